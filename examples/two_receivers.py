# %% [markdown]
# # Two views for two receivers
# Each gets other columns of the same people. Together they must still leave everybody with two diagnoses.

# %%
import sudare as sd

people = sd.datasets.health_survey(600).select("age", "sex", "region", "diagnosis")
schema = sd.Schema.from_roles(quasi=["age", "sex", "region"], sensitive=["diagnosis"], source="patients")
views = {"insurer": ["age", "sex"], "planner": ["sex", "region"]}
release = sd.generalize_views(sd.read(people, schema), views, sd.MultiViewDiversity(2))
release

# %% [markdown]
# Somebody who got both, and knows everybody's quasi values, looks all of them up:

# %%
attack = sd.attack(release.frames(), schema, kind="intersection", known=people)
print(attack)
assert attack.by_attribute["diagnosis"].least >= 2

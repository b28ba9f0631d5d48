# %% [markdown]
# # Answers that are randomized where they are given
# Nobody ever holds the truth: each answer is drawn on the person's own device, by a law that everybody may read.

# %%
import random

import sudare as sd

schema = sd.Schema.from_roles(
    sensitive=["smokes"], domains={"smokes": ["never", "sometimes", "daily"]}, missing="refuse", source="poll"
)
randomizer = sd.Randomizer.from_schema(schema, sd.DifferentialPrivacy(2.0, per="record"))
randomizer

# %%
rng = random.Random(7)
truth = rng.choices(["never", "sometimes", "daily"], [6, 3, 1], k=60)
answers = [randomizer.answer({"smokes": one}, key=sd.Randomizer.new_key()) for one in truth]
table = randomizer.collected(answers)

# %% [markdown]
# No answer can be believed; all of them together can be counted, with intervals.

# %%
estimate = sd.reconstruct(table, ["smokes"], law=randomizer.law)
print(estimate.frame())

# %% [markdown]
# # A plan that a warehouse applies itself
# The rows stay in the database. What it publishes is recounted by its own statement, and here once more.

# %%
import duckdb

import sudare as sd

people = sd.datasets.health_survey(1500).select("name", "age", "sex", "diagnosis")
schema = sd.Schema.from_roles(
    identifier=["name"], quasi=["age", "sex"], sensitive=["diagnosis"], source="patients"
)
plan = sd.generalize(sd.read(people[:1000], schema), sd.KAnonymity(10), method="full-domain").plan
statement = sd.sql(plan, schema, table="patients", unseen="suppress")

# %%
with duckdb.connect() as warehouse:
    warehouse.register("patients", people)
    published = sd.read(warehouse.sql(statement).to_arrow_table())
receivers = sd.Schema.from_roles(quasi=["age", "sex"], sensitive=["diagnosis"])
assert sd.verify(published.frame(), sd.KAnonymity(10), receivers).holds
published

# %% [markdown]
# # A p-view for a public dashboard
# The budget is spent once. Whatever the dashboard asks then costs nothing more.

# %%
import sudare as sd

people = sd.datasets.health_survey(3000).select("age", "sex", "region")
schema = sd.Schema.from_roles(
    quasi=["age", "sex", "region"],
    bounds={"age": (0, 120)},
    domains={
        "sex": ["Female", "Male"],
        "region": [
            "Capital",
            "Estuary",
            "Highlands",
            "Lakeland",
            "Northmoor",
            "Plains",
            "Southshore",
            "Westvale",
        ],
    },
    missing="refuse",
    source="patients",
)
pview = sd.materialize(sd.read(people, schema), sd.DifferentialPrivacy(1.0))
pview

# %%
print(pview.count(age=(20, 39), sex="Female"))
print(
    pview.sql(
        "SELECT region, COUNT(*) AS people FROM view WHERE age >= 65 GROUP BY region ORDER BY people DESC LIMIT 3"
    )
)
pview.certificate

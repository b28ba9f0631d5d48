# %% [markdown]
# # A city's survey with households
# Who knows one member of a household may find the others. So rows are counted by household, and k households share every block.

# %%
import random

import polars as pl

import sudare as sd

rng = random.Random(1)
rows = [
    {
        "household": h,
        "age": rng.randrange(0, 90, 5),
        "sex": rng.choice("fm"),
        "district": f"d{h % 4}",
        "income": rng.choice(["low", "middle", "high"]),
    }
    for h in range(200)
    for _ in range(rng.randint(1, 4))
]
survey = pl.DataFrame(rows)
schema = sd.Schema.from_roles(
    household="household", quasi=["age", "sex", "district"], sensitive=["income"], source="city survey"
)
release = sd.generalize(sd.read(survey, schema), sd.KAnonymity(5), method="mondrian")
assert release.certificate.unit == "household"
assert "household" not in release.frame().columns
release.certificate

# %% [markdown]
# # Learning from protected features
# The transformer learns blocks from the rows for training, and publishes all later rows as their block was then.

# %%
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import sudare as sd
from sudare.sklearn import Generalizer

people = sd.datasets.health_survey(1200)
features = people.select("age", "sex")
elderly = (people["age"].to_numpy() > 60).astype(int)
for k in (5, 50):
    model = make_pipeline(
        Generalizer(sd.KAnonymity(k), unseen="suppress"),
        OneHotEncoder(handle_unknown="ignore"),
        LogisticRegression(),
    )
    print(f"k = {k}: {np.mean(cross_val_score(model, features, elderly, cv=3)):.3f}")

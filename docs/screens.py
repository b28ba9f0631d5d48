"""Pictures of pages that people read, taken by Chromium: python docs/screens.py writes report.png and pview.png."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

import sudare as sd

HERE = Path(__file__).parent
SIZES = {"report.png": "1000,1400", "pview.png": "1100,900"}


def made(folder: Path) -> dict[str, Path]:
    """Make a release and a p-view of the made-up survey, and return the page of each."""
    people = sd.datasets.health_survey(5000).select("name", "age", "sex", "occupation", "diagnosis")
    domains = {
        name: people[name].unique().drop_nulls().sort().to_list() for name in people.columns if name != "age"
    }
    del domains["name"]
    schema = sd.Schema.from_roles(
        identifier=["name"],
        quasi=["age", "sex", "occupation"],
        sensitive=["diagnosis"],
        bounds={"age": (15, 100)},
        domains=domains,
        hierarchies={"age": sd.Hierarchy.intervals(range(15, 101), width=5, fanout=2)},
        source="survey",
    )
    people.write_csv(folder / "survey.csv")
    table = sd.read(folder / "survey.csv", schema)
    asked = [sd.KAnonymity(5), sd.LDiversity(3)]
    sd.generalize(table, asked, method="mondrian").write(folder / "release")
    sd.materialize(table, sd.DifferentialPrivacy(1.0), unsafe_seed=1).write(folder / "pview")
    return {
        "report.png": folder / "release" / "keep" / "report.html",
        "pview.png": next((folder / "pview" / "hand-over").glob("*.html")),
    }


def main() -> None:
    """Take a picture of each page."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        raise SystemExit("No Chromium or Chrome is on this machine. Install one, and run this again.")
    with tempfile.TemporaryDirectory() as folder:
        for name, page in made(Path(folder)).items():
            asked = ["--headless", "--no-sandbox", "--hide-scrollbars", f"--window-size={SIZES[name]}"]
            subprocess.run(
                [chromium, *asked, f"--screenshot={HERE / name}", page.as_uri()],
                check=True,
                capture_output=True,
            )


if __name__ == "__main__":
    main()

from __future__ import annotations

import pytest

import sudare as sd
from tests.conformance import conform


@pytest.mark.parametrize(
    "options",
    [
        {"method": "minimal"},
        {"method": "mondrian"},
        {"method": "mondrian", "strict": True},
        {"method": "full-domain"},
        {"method": "mdav"},
        {"method": "blind"},
    ],
)
def test_conforms(options: dict) -> None:
    conform(lambda table, requirement: sd.generalize(table, requirement, **options))

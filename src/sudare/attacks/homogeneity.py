"""The homogeneity attack: a block whose records all share one sensitive value gives it away."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import polars as pl

from sudare.attacks.published import Published, Values, described, shown

EXAMPLES = 5


@dataclass(frozen=True)
class HomogeneousBlock:
    """A block that gives its people's value away."""

    block: Values
    value: str | None
    size: int


@dataclass(frozen=True)
class HomogeneousBlocks:
    """The blocks in which all records share one value of a sensitive attribute."""

    blocks: int
    records: int
    share: float
    """Of all records."""
    worst: tuple[HomogeneousBlock, ...]
    """The largest of them."""

    def summary(self) -> dict[str, Any]:
        """Return the numbers as plain data."""
        return {"blocks": self.blocks, "records": self.records, "share": self.share}


@dataclass(frozen=True)
class Homogeneity:
    """What a homogeneity attack found out, by sensitive attribute."""

    by_attribute: dict[str, HomogeneousBlocks]

    @property
    def share(self) -> float:
        """The largest share of records that give a value away, of any attribute."""
        return max(found.share for found in self.by_attribute.values())

    def summary(self) -> dict[str, Any]:
        """Return the numbers as plain data; no block is named."""
        return {name: found.summary() for name, found in self.by_attribute.items()}

    def __str__(self) -> str:
        return "\n".join(_told(name, found) for name, found in self.by_attribute.items())


def homogeneity(seen: Published) -> Homogeneity:
    """Find the blocks in which all records share one sensitive value.

    Whoever knows that somebody is in such a block knows their value. A block of one record is one, too.

    >>> import sudare as sd
    >>> frame = pl.DataFrame({"zip": ["130**"] * 2 + ["148**"] * 2, "illness": ["flu", "HIV", "flu", "flu"]})
    >>> seen = Published.open(frame, sd.Schema.from_roles(quasi=["zip"], sensitive=["illness"]))
    >>> print(homogeneity(seen))
    illness: 1 block with 2 records (50.0%) shares one value. The largest: zip 148**: 2 records with 'flu'.
    """
    seen.refuse_without_sensitive("homogeneity")
    return Homogeneity({name: _found(seen, name) for name in seen.sensitive})


def _found(seen: Published, sensitive: str) -> HomogeneousBlocks:
    alone = seen.counted(sensitive).filter(pl.col("count") == pl.col("size"))
    worst = alone.sort("size", "block", descending=[True, False]).head(EXAMPLES)
    records = int(alone["size"].sum())
    return HomogeneousBlocks(
        alone.height,
        records,
        records / seen.records,
        tuple(
            HomogeneousBlock(seen.values_of(row["block"]), row["value"], row["size"])
            for row in worst.iter_rows(named=True)
        ),
    )


def _told(name: str, found: HomogeneousBlocks) -> str:
    if not found.blocks:
        return f"{name}: no block shares one value."
    one = found.blocks == 1
    worst = found.worst[0]
    return (
        f"{name}: {found.blocks:,} {'block' if one else 'blocks'} with {found.records:,} records ({found.share:.1%}) "
        f"{'shares' if one else 'share'} one value{'' if one else ' each'}. The largest: {described(worst.block)}: "
        f"{worst.size:,} records with '{shown(worst.value)}'."
    )

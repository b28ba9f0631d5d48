"""The homogeneity attack: a block whose records all share one sensitive value gives it away."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from sudare.attacks.harmless import Harmless, harmless_texts, is_harmless
from sudare.attacks.published import Published, Values, described, in_order, value_text
from sudare.tables.notebook import ShownFigures

MAX_EXAMPLES = 5


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
    harmless: int | None = None
    """The records of blocks that share a harmless value: they are not counted above. None where no value was called so."""

    def summary(self) -> dict[str, Any]:
        """Return the numbers as plain data."""
        figures = {"blocks": self.blocks, "records": self.records, "share": self.share}
        return figures if self.harmless is None else {**figures, "harmless": self.harmless}


@dataclass(frozen=True, repr=False)
class Homogeneity(ShownFigures):
    """What a homogeneity attack reveals, by sensitive attribute."""

    by_attribute: dict[str, HomogeneousBlocks]

    @property
    def share(self) -> float:
        """The largest share of records that give a value away, of any attribute."""
        return max(blocks.share for blocks in self.by_attribute.values())

    def summary(self) -> dict[str, Any]:
        """Return the numbers as plain data; no block is named."""
        return {name: blocks.summary() for name, blocks in self.by_attribute.items()}

    def __str__(self) -> str:
        return "\n".join(_sentence(name, blocks) for name, blocks in self.by_attribute.items())


def homogeneity(published: Published, *, harmless: Harmless = ()) -> Homogeneity:
    """Find the blocks in which all records share one sensitive value.

    Whoever knows that somebody is in such a block knows their value. A block of one record is one, too. Where that value
    is harmless nothing is disclosed; such records are counted apart.

    >>> import sudare as sd
    >>> frame = pl.DataFrame({"zip": ["130**"] * 2 + ["148**"] * 2, "illness": ["flu", "HIV", "flu", "flu"]})
    >>> published = Published.open(frame, sd.Schema.from_roles(quasi=["zip"], sensitive=["illness"]))
    >>> print(homogeneity(published))
    illness: 1 block with 2 records (50.0%) shares one value. The largest: zip 148**: 2 records with 'flu'.
    """
    published.refuse_without_sensitive("homogeneity")
    return Homogeneity({name: _homogeneous_blocks(published, name, harmless) for name in published.sensitive})


def _homogeneous_blocks(published: Published, sensitive: str, harmless: Harmless) -> HomogeneousBlocks:
    alone = published.counted(sensitive).filter(pl.col("count") == pl.col("size"))
    may_be_known = alone.filter(is_harmless(harmless, sensitive))
    alone = alone.filter(~is_harmless(harmless, sensitive))
    worst = alone.sort("size", "block", descending=[True, False]).head(MAX_EXAMPLES)
    records = int(alone["size"].sum())
    return HomogeneousBlocks(
        alone.height,
        records,
        records / published.records,
        tuple(
            HomogeneousBlock(published.values_of(row["block"]), row["value"], row["size"])
            for row in worst.iter_rows(named=True)
        ),
        int(may_be_known["size"].sum()) if harmless_texts(harmless, sensitive) else None,
    )


def joined(pieces: Sequence[Homogeneity], published: Published) -> Homogeneity:
    """Put together what some blocks each give away."""
    return Homogeneity(
        {
            name: _joined([piece.by_attribute[name] for piece in pieces], published.records)
            for name in published.sensitive
        }
    )


def _joined(pieces: Sequence[HomogeneousBlocks], of: int) -> HomogeneousBlocks:
    records = sum(piece.records for piece in pieces)
    worst = [block for piece in pieces for block in piece.worst]
    worst.sort(key=lambda block: (-block.size, in_order(block.block)))
    harmless = [piece.harmless for piece in pieces if piece.harmless is not None]
    return HomogeneousBlocks(
        sum(piece.blocks for piece in pieces),
        records,
        records / of,
        tuple(worst[:MAX_EXAMPLES]),
        sum(harmless) if harmless else None,
    )


def _sentence(name: str, homogeneous: HomogeneousBlocks) -> str:
    known = homogeneous.harmless
    harmless = f" {known:,} records are in blocks that share a harmless one." if known else ""
    if not homogeneous.blocks:
        return f"{name}: no block shares one value{' that is not harmless' if harmless else ''}.{harmless}"
    one = homogeneous.blocks == 1
    worst = homogeneous.worst[0]
    return (
        f"{name}: {homogeneous.blocks:,} {'block' if one else 'blocks'} with {homogeneous.records:,} records ({homogeneous.share:.1%}) "
        f"{'shares' if one else 'share'} one value{'' if one else ' each'}. The largest: {described(worst.block)}: "
        f"{worst.size:,} records with '{value_text(worst.value)}'.{harmless}"
    )

"""What the counts of sensitive values alone tell of the blocks of an l-diverse table, as the suitability paper has it.

>>> import sudare as sd
>>> sd.bounds.max_blocks([10, 8, 7, 3, 2], l=3)
10
"""

from sudare.suitability.histogram import max_blocks, min_block_distinct, min_block_entropy

__all__ = ["max_blocks", "min_block_distinct", "min_block_entropy"]

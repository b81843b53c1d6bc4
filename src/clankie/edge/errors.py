"""What the edge raises.

Exception
└── EdgeStoreError
    ├── StoreUnavailable      not known to be durable: nothing may be taken as done; ask again
    ├── ShardNotHeld          this edge does not hold the shard, or may lose it before it could act
    └── RowLost               the row was changed by somebody else, or its shard is another edge's now

ClankieError (clankie.runtime.errors)
├── WrongStoreKey             the store was made under another key
├── ShardCountDiffers         another edge on the same store runs another number of shards
└── IdentifyBudgetSpent       Discord would be asked to identify more often than is safe

Owns the tree. Messages name ids, states and codes; never content.
"""

from clankie.runtime.errors import ClankieError


class EdgeStoreError(Exception):
    """Base of what the open store raises."""


class StoreUnavailable(EdgeStoreError):
    """The store could not make it durable, or cannot know whether it did."""


class ShardNotHeld(EdgeStoreError):
    """Nothing may be accepted or changed for this shard by this edge now."""


class RowLost(EdgeStoreError):
    """The row is not in the state it was left in, or not this edge's any more. Nothing was changed."""


class WrongStoreKey(ClankieError):
    """What is sealed in the store does not open under this edge's key."""


class ShardCountDiffers(ClankieError):
    """All edges on one store run the same number of shards."""


class IdentifyBudgetSpent(ClankieError):
    """No identify now. It is for a person to look at why there were so many."""

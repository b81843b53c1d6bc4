"""The names by which `clankie up` and `clankie say` find each other."""

from typing import Final

EDGE_TOKEN_ID: Final = "clankie-edge-token"  # noqa: S105 - the id it is kept under
"""Where the broker keeps the bearer of this machine's edge."""
PRIVATE_SERVER: Final = "1"
"""The Discord server that `clankie say` stands for when none is named; Discord itself has no such id."""

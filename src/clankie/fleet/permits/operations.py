"""What waits for the next commit: a permit that is asked for, or a charge that is reported.

Owns the operation and how its caller is answered. Must not know what is decided.
"""

import asyncio
from dataclasses import dataclass
from typing import NamedTuple

from clankie.fleet.contracts import ChargeRequest, PermitRequest


class EdgeIdentity(NamedTuple):
    """An edge whose bearer held when the request came in. The transaction checks both again: it may be revoked since.

    Attributes:
        edge_id: who it is.
        token_hash: of the bearer it came with.
    """

    edge_id: str
    token_hash: bytes


@dataclass(slots=True, eq=False)
class PermitAsked:
    """A permit that an edge asks for. The future gets the permit."""

    edge: EdgeIdentity
    request: PermitRequest
    future: asyncio.Future[tuple[str, int]]


@dataclass(slots=True, eq=False)
class ChargeReported:
    """Messages that an edge has posted. The future gets None."""

    edge: EdgeIdentity
    request: ChargeRequest
    future: asyncio.Future[None]


Operation = PermitAsked | ChargeReported

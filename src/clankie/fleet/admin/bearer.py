"""The administrators' bearer, which opens the fleet's loopback port (`runtime.loopback_guard`).

Owns where it is kept. Must not know what it opens.
"""

from typing import Final

from clankie.fleet import ids
from clankie.runtime.broker import Broker
from clankie.runtime.credentials import TokenCredential

ADMIN_BEARER: Final = "clankie-fleet-admin"
"""The broker's id of the administrators' bearer; made when it is first needed."""


def admin_bearer(broker: Broker) -> str:
    """The administrators' bearer. Raises BrokerError."""
    return broker.get_or_create(
        ADMIN_BEARER, TokenCredential, lambda: TokenCredential(ids.new_token())
    ).token

"""The fleet's store and keys, opened: by the running role, and by the CLI when there is none.

Owns the first start: an audit key, and a first signing key. Must not know HTTP.
"""

from typing import Final, NamedTuple

from sqlalchemy import Connection

from clankie.fleet.errors import Refused
from clankie.fleet.keys.gateways import GatewaysSeen
from clankie.fleet.keys.ring import Seeds, add_key, all_keys
from clankie.fleet.keys.states import KeyState
from clankie.fleet.permits.operations import Operation
from clankie.fleet.store import FleetStore
from clankie.protocol.primitives import random_bytes
from clankie.runtime.broker import Broker, SecretKeyCredential
from clankie.runtime.clock import Clock
from clankie.runtime.credentials import KEY_BYTES
from clankie.runtime.database_errors import DatabaseUnreachable
from clankie.runtime.secrets import resolve_secret
from clankie.runtime.settings import Config

AUDIT_KEY: Final = "clankie-fleet-audit-key"
"""The broker's id of the key that seals the audit trail."""


class Fleet(NamedTuple):
    """What every part of a fleet stands on."""

    store: FleetStore[Operation]
    seeds: Seeds
    gateways: GatewaysSeen


async def open_fleet(config: Config, broker: Broker, clock: Clock) -> Fleet:
    """Open the store, and see that there is a key that signs.

    Raises:
        ClankieError: what is wrong with the store, the broker, or between the two.
    """
    audit_key = broker.get_or_create(
        AUDIT_KEY, SecretKeyCredential, lambda: SecretKeyCredential(random_bytes(KEY_BYTES))
    )
    url = resolve_secret("fleet.store", config.fleet.store, broker)
    store: FleetStore[Operation] = await FleetStore.open(url, audit_key=audit_key.key, clock=clock)
    seeds = Seeds(broker)
    try:
        if not await store.read(all_keys):
            await _first_key(store, seeds)
        for row in await store.read(all_keys):
            if row.state is not KeyState.RETIRED:
                seeds.get(row.kid)
    except Refused as refusal:
        await store.close()
        raise DatabaseUnreachable(
            f"{store.database.place} stopped answering during the start ({refusal.code})",
            next_step="Make room on its disk, or see that its server runs; this user must be able to write it. "
            "Then start again.",
        ) from None
    except BaseException:
        await store.close()
        raise
    return Fleet(store, seeds, GatewaysSeen(clock))


async def _first_key(store: FleetStore[Operation], seeds: Seeds) -> None:
    key = seeds.create()
    now_ms = store.clock.now_ms()

    def work(connection: Connection) -> None:
        if all_keys(connection):
            return  # another fleet on the same store was first
        kid = add_key(connection, key, KeyState.SIGNING, now_ms)
        store.audit.append(
            connection, at_ms=now_ms, actor="fleet", action="key_created", subject=[kid]
        )

    await store.write(work)

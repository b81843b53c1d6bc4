"""A step of a key rotation, store and broker together.

Owns the order of the two: a new key's seed is in the broker before anyone hears of the key, and a retired one's is
deleted after nobody can need it. Must not know when a step may be taken (keys/rotation.py).
"""

import asyncio

from clankie.fleet.admin.service import Admin
from clankie.fleet.errors import AdminRefused
from clankie.fleet.keys.rotation import Taken, rotation, take_step
from clankie.fleet.keys.states import Step
from clankie.fleet.registry.change import Change
from clankie.protocol.fleet_tokens import key_id


async def rotate_key(admin: Admin, *, force: bool) -> Taken:
    """Take the next step. Raises Refused, AdminRefused, BrokerError."""
    now_ms = admin.store.clock.now_ms()
    found = await admin.read(lambda connection: rotation(connection, admin.gateways, now_ms))
    new_key = await asyncio.to_thread(admin.seeds.create) if found.next is Step.PUBLISH else None

    def work(change: Change) -> Taken:
        taken = take_step(change.connection, admin.gateways, new_key, change.now_ms, force=force)
        change.record(f"key_{taken.step.value}" + ("_forced" if force else ""), taken.kid)
        return taken

    try:
        taken = await admin.change(work)
    except AdminRefused:
        if new_key is not None:
            await asyncio.to_thread(admin.seeds.forget, key_id(new_key.public_key()))
        raise
    if taken.step is Step.RETIRE:
        await asyncio.to_thread(admin.seeds.forget, taken.kid)
    return taken

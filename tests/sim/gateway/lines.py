"""A connection without a socket. It tests nothing."""

import json
from typing import Any

from clankie.runtime.clock import Clock
from clankie.sim.faults import Faults
from clankie.sim.gateway.connection import Connection
from clankie.sim.gateway.frames import Packing
from clankie.sim.gateway.sessions import Sessions
from clankie.sim.sample import build
from clankie.sim.world.world import World


class Line:
    """What one client says and hears."""

    def __init__(self, clock: Clock) -> None:
        self.world, faults = World(clock), Faults()
        self.sample = build(self.world)
        sessions = Sessions(self.world, faults, clock, bytes)
        self.connection = Connection(
            self.world,
            faults,
            sessions,
            clock,
            Packing(stream=False),
            changed=lambda: None,
            ended=lambda: None,
        )

    def send(self, op: int, data: Any = None) -> list[dict[str, Any]]:
        """Say something; everything that comes back."""
        self.connection.receive(json.dumps({"op": op, "d": data}))
        return self.taken()

    def taken(self) -> list[dict[str, Any]]:
        taken = []
        while self.connection.outbox:
            taken.append(json.loads(self.connection.sent().message))
        return taken

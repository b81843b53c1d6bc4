"""The control API as one ASGI application, and the paths of the page's own port.

Owns which routes there are and how they are described. Must not know what the page draws.
"""

from typing import Any, Final

from litestar import Litestar, Router
from litestar.exceptions import HTTPException
from litestar.openapi import OpenAPIConfig
from litestar.openapi.plugins import JsonRenderPlugin

from clankie.runtime.errors import ClankieError
from clankie.sim.control.bots import SessionSource, bot_routes
from clankie.sim.control.events import EventLog
from clankie.sim.control.fault_routes import fault_routes
from clankie.sim.control.guard import AsgiApp, WriteGuard
from clankie.sim.control.hops import HopSource
from clankie.sim.control.interactions import interaction_routes
from clankie.sim.control.messages import message_routes
from clankie.sim.control.people import people_routes
from clankie.sim.control.places import place_routes
from clankie.sim.control.refusals import NotSaid, broken, not_kept, not_said, not_served, refused
from clankie.sim.errors import ApiError
from clankie.sim.faults import Faults
from clankie.sim.world.world import World

PREFIX: Final = "/sim/api/v1"
MAX_BODY_BYTES: Final = 26 * 1_048_576
"""As many bytes of files as Discord's side takes in one request, and their wrapping."""


def control_app(
    world: World,
    faults: Faults,
    log: EventLog,
    sessions: SessionSource,
    source: HopSource,
    version: str,
) -> AsgiApp:
    """The control API below `/sim/api/v1`, guarded.

    Args:
        sessions: which bots are connected.
        source: who tells a message's way.
        version: of the product, for the description.
    """
    routes: list[Any] = [
        *people_routes(world, log),
        *message_routes(world, source),
        *place_routes(world),
        *interaction_routes(world),
        *fault_routes(world, faults, log),
        *bot_routes(world, sessions),
    ]
    return WriteGuard(
        Litestar(
            [Router(PREFIX, route_handlers=routes)],
            exception_handlers={
                ApiError: refused,
                NotSaid: not_said,
                ClankieError: not_kept,
                HTTPException: not_served,
                Exception: broken,
            },
            request_max_body_size=MAX_BODY_BYTES,
            openapi_config=OpenAPIConfig(
                title="Clankie's simulated Discord: control",
                version=version,
                path=f"{PREFIX}/openapi",
                render_plugins=[JsonRenderPlugin()],
            ),
            logging_config=None,
        )
    )

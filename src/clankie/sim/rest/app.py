"""The simulated Discord's HTTP side as one ASGI application: REST v10, CDN, OAuth2.

Owns which path belongs to what. Must not know the gateway, the page or the control API. Routing goes through litestar;
below it every API route goes one way (pipeline.py).
"""

from collections.abc import Mapping
from typing import Any, Final

from litestar import Litestar, Request, Response
from litestar.exceptions import HTTPException
from litestar.handlers import HTTPRouteHandler

from clankie.protocol.primitives import RandomBytes, random_bytes
from clankie.runtime.clock import Clock
from clankie.sim.faults import Faults
from clankie.sim.rest.call import Api, Route
from clankie.sim.rest.callers import Callers
from clankie.sim.rest.cdn import cdn_handlers
from clankie.sim.rest.limits import RateLimits
from clankie.sim.rest.oauth2.grants import Grants
from clankie.sim.rest.oauth2.web import oauth2_handlers
from clankie.sim.rest.pipeline import Pipeline
from clankie.sim.rest.reading import MAX_BODY_BYTES
from clankie.sim.rest.refusals import broken, not_served
from clankie.sim.rest.routes import (
    applications,
    channels,
    commands,
    gateways,
    guilds,
    interactions,
    members,
    messages,
    reactions,
    threads,
    users,
    webhooks,
)
from clankie.sim.world.world import World

API_PATH: Final = "/api/v10"
PREFIXES: Final = ("/api/", "/attachments/", "/avatars/", "/embed/", "/oauth2/")
"""What `RestApp` serves of a port that others share: paths that begin with one of these."""
ROUTES: Final[tuple[Route, ...]] = (
    *applications.ROUTES,
    *channels.ROUTES,
    *commands.ROUTES,
    *gateways.ROUTES,
    *guilds.ROUTES,
    *interactions.ROUTES,
    *members.ROUTES,
    *messages.ROUTES,
    *reactions.ROUTES,
    *threads.ROUTES,
    *users.ROUTES,
    *webhooks.ROUTES,
)


class RestApp:
    """An ASGI 3 application for scope type "http".

    Args:
        world: what is shown and changed.
        faults: what goes wrong on purpose.
        clock: whose time limits and tokens go by.
        random_bytes: OAuth2's codes and tokens come from it.
        limit_factor: multiplies every rate limit. 1 is Discord; a load bench raises it.
    """

    def __init__(
        self,
        world: World,
        faults: Faults,
        clock: Clock,
        *,
        random_bytes: RandomBytes = random_bytes,
        limit_factor: int = 1,
    ) -> None:
        grants = Grants(clock, random_bytes)
        limits = RateLimits(clock, factor=limit_factor)
        pipeline = Pipeline(Api(world), Callers(world, grants), limits, faults)
        self._app = Litestar(
            [
                *_handlers(pipeline),
                *cdn_handlers(world),
                *oauth2_handlers(world, grants, API_PATH),
            ],
            exception_handlers={HTTPException: not_served, Exception: broken},
            request_max_body_size=MAX_BODY_BYTES,
            openapi_config=None,
            logging_config=None,
        )

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await self._app(scope, receive, send)


def _handlers(pipeline: Pipeline) -> list[HTTPRouteHandler]:
    """One handler a path, since litestar takes a millisecond for each."""
    by_path: dict[str, dict[str, Route]] = {}
    for route in ROUTES:
        by_path.setdefault(route.path, {})[route.method] = route
    return [_handler(pipeline, path, routes) for path, routes in by_path.items()]


def _handler(pipeline: Pipeline, path: str, routes: Mapping[str, Route]) -> HTTPRouteHandler:
    async def serve(request: Request[Any, Any, Any]) -> Response[bytes]:
        return await pipeline.serve(routes[request.method], request)

    methods = [route.method for route in routes.values()]
    return HTTPRouteHandler(API_PATH + path, http_method=methods, status_code=200)(serve)

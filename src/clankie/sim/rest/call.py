"""What a route is handed, and what it hands back.

Owns the shapes between the pipeline and the routes. Must not know either.
"""

from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple

from msgspec import Struct

from clankie.sim.errors import UNAUTHORIZED, WRONG_ACCOUNT, Forbidden
from clankie.sim.rest.forms import dictionary, snowflake
from clankie.sim.rest.limits import ANYTHING_ELSE, Bucket
from clankie.sim.rest.reading import File
from clankie.sim.world.entities import Application
from clankie.sim.world.world import World


class Caller(NamedTuple):
    """Who asks.

    Attributes:
        user_id: the bot, or the person who signed in; None for nobody, which only some routes take.
        application: of the bot, or through which the person signed in.
        scopes: what a person's Bearer token covers; None for a bot.
    """

    user_id: int | None = None
    application: Application | None = None
    scopes: frozenset[str] | None = None

    @property
    def name(self) -> str:
        """Whom rate limits belong to: one bot, or one person through one application."""
        application_id = self.application.id if self.application else ""
        return f"{application_id}/{self.user_id or ''}"


class Call:
    """One request, read and admitted.

    Args:
        caller: who asks.
        path: the parameters in the path, by name.
        query: the parameters behind the question mark, the last of each name.
        body: the JSON value of the body.
        files: the body's files, by number.
        host: as the caller reached us: links we hand out start with it.
    """

    __slots__ = ("body", "caller", "files", "host", "path", "query")

    def __init__(
        self,
        caller: Caller,
        path: Mapping[str, str],
        query: Mapping[str, str],
        body: Any,
        files: Mapping[int, File],
        host: str,
    ) -> None:
        self.caller = caller
        self.path = path
        self.query = query
        self.body = body
        self.files = files
        self.host = host

    @property
    def fields(self) -> dict[str, Any]:
        """The body's fields.

        Raises:
            Invalid: the body is JSON of another kind.
        """
        return dictionary(self.body, ())

    @property
    def actor_id(self) -> int:
        """Who asks.

        Raises:
            Forbidden: nobody does. Routes that take nobody do not ask.
        """
        if self.caller.user_id is None:
            raise Forbidden(UNAUTHORIZED)
        return self.caller.user_id

    @property
    def application(self) -> Application:
        """The caller's application.

        Raises:
            Forbidden: nobody asks.
        """
        if self.caller.application is None:
            raise Forbidden(WRONG_ACCOUNT)
        return self.caller.application

    def id(self, name: str) -> int:
        """An id in the path.

        Raises:
            Invalid: it is not an id.
        """
        return snowflake(self.path[name], (name,))

    def user_id(self) -> int:
        """The user in the path, where `@me` is who asks."""
        return self.actor_id if self.path["user_id"] == "@me" else self.id("user_id")


class Answer(NamedTuple):
    """An answer that is not simply 200 with JSON, or 204 without.

    Attributes:
        content: what is sent as JSON; bytes are sent as they are.
    """

    status: int
    content: Any = None
    media_type: str = "application/json"
    headers: Mapping[str, str] = {}


class Api(Struct, frozen=True):
    """What the routes act on."""

    world: World


Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
Handle = Callable[[Api, Call], Any]
"""Returns an `Answer`; or None for 204; or what is sent as JSON with 200."""


class Route(NamedTuple):
    """One method of one path.

    Attributes:
        path: as litestar writes it, below /api/v10.
        handle: what answers.
        bucket: its rate limit.
        major: names of the path parameters that have windows of their own.
        scope: what a person's token must cover; None takes only bots.
        open_to_all: nobody need sign in, as an interaction's token in the path says enough.
    """

    method: Method
    path: str
    handle: Handle
    bucket: Bucket = ANYTHING_ELSE
    major: tuple[str, ...] = ()
    scope: str | None = None
    open_to_all: bool = False

"""What an application asks a person for, read from the address that it sent their browser to.

Owns which requests are good, and whom a bad one is told: the application, where its return address is known to be its
own, else only the person. Must not know HTML or tokens.
"""

from collections.abc import Mapping
from typing import Final, NamedTuple
from urllib.parse import urlencode

from clankie.sim.errors import ApiError
from clankie.sim.rest.forms import snowflake
from clankie.sim.world.entities import Application
from clankie.sim.world.world import World

SCOPES: Final = {
    "identify": "who you are: your name and picture",
    "guilds": "which servers you are in, and what you may do there",
}
"""What can be asked for, and what it means to a person."""
CARRIED: Final = (
    "client_id",
    "redirect_uri",
    "response_type",
    "scope",
    "state",
    "code_challenge",
    "code_challenge_method",
)
"""The parameters that make up a request."""
CHALLENGE_LENGTH: Final = 43
"""Characters of base64url of a SHA-256 digest (RFC 7636, 4.2)."""


class Untrusted(Exception):
    """It must not be answered by sending the browser on.

    Args:
        message: what is wrong, without a full stop.
        next_step: what whoever writes the application does about it.
    """

    def __init__(self, message: str, *, next_step: str) -> None:
        super().__init__(message)
        self.next_step = next_step


class SentBack(Exception):
    """The application is told. `location` is where the browser goes."""

    def __init__(self, location: str) -> None:
        super().__init__("the request is refused by a redirect")
        self.location = location


class Asked(NamedTuple):
    """A good request."""

    application: Application
    redirect_uri: str
    scopes: tuple[str, ...]
    state: str | None
    challenge: str | None

    def returning(self, **parameters: str) -> str:
        """The return address with an answer."""
        return _returning(self.redirect_uri, self.state, parameters)


def asked_of(world: World, query: Mapping[str, str]) -> Asked:
    """Read a request.

    Raises:
        Untrusted: the application or its return address is not known.
        SentBack: anything else is wrong.
    """
    application = _application(world, query.get("client_id"))
    redirect_uri = query.get("redirect_uri", "")
    if redirect_uri not in application.redirect_uris:
        raise Untrusted(
            "redirect_uri is none of the application's own",
            next_step="Add it, letter for letter, to the application's redirect addresses.",
        )
    state = query.get("state")

    def sent_back(error: str, description: str) -> SentBack:
        answer = {"error": error, "error_description": description}
        return SentBack(_returning(redirect_uri, state, answer))

    if query.get("response_type") != "code":
        raise sent_back("unsupported_response_type", "response_type must be code")
    scopes = tuple(query.get("scope", "").split())
    if not scopes or any(scope not in SCOPES for scope in scopes):
        raise sent_back("invalid_scope", f"scope must name some of: {' '.join(SCOPES)}")
    challenge = query.get("code_challenge")
    if challenge is not None and (
        query.get("code_challenge_method") != "S256" or len(challenge) != CHALLENGE_LENGTH
    ):
        raise sent_back("invalid_request", "code_challenge_method must be S256")
    return Asked(application, redirect_uri, scopes, state, challenge)


def _application(world: World, client_id: str | None) -> Application:
    try:
        return world.application(snowflake(client_id, ("client_id",)))
    except ApiError:
        raise Untrusted(
            "client_id names no application",
            next_step="Take the id that the simulated Discord shows for the application.",
        ) from None


def _returning(redirect_uri: str, state: str | None, parameters: Mapping[str, str]) -> str:
    answer = dict(parameters) if state is None else {**parameters, "state": state}
    return f"{redirect_uri}{'&' if '?' in redirect_uri else '?'}{urlencode(answer)}"

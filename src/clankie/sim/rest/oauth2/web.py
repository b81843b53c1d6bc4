"""OAuth2's addresses: the person's page, and the application's token calls (RFC 6749, 7009, 7636).

Owns their HTTP. Must not know how tokens are kept.
"""

import base64
import binascii
import hmac
from collections.abc import Callable, Mapping
from typing import Any, Final
from urllib.parse import unquote

import msgspec
from litestar import Request, Response, get, post

from clankie.sim.errors import ApiError
from clankie.sim.rest.forms import snowflake
from clankie.sim.rest.oauth2.consent import consent_page, policy, refusal_page
from clankie.sim.rest.oauth2.grants import (
    ACCESS_SECONDS,
    Grant,
    GrantRefused,
    Grants,
    Tokens,
)
from clankie.sim.rest.oauth2.requests import SentBack, Untrusted, asked_of
from clankie.sim.rest.reading import read_body
from clankie.sim.world.entities import Application
from clankie.sim.world.world import World

AUTHORIZE_PATH: Final = "/oauth2/authorize"
_SEE_OTHER: Final = 303
_Request = Request[Any, Any, Any]


def oauth2_handlers(world: World, grants: Grants, api_path: str) -> list[Any]:
    """The routes.

    Args:
        world: who there is.
        grants: what they allowed.
        api_path: the token calls are served with Discord's version in their path and without it.
    """
    page = _ConsentPage(world, grants)
    tokens = _TokenCalls(world, grants)

    @get(AUTHORIZE_PATH, sync_to_thread=False)
    def show(request: _Request) -> Response[Any]:
        return _told(lambda: page.show(dict(request.query_params)))

    @post(AUTHORIZE_PATH)
    async def decide(request: _Request) -> Response[Any]:
        fields = await _form(request)
        return _told(lambda: page.decide(fields, own_page=_from_own_page(request)))

    @post(["/api/oauth2/token", api_path + "/oauth2/token"])
    async def token(request: _Request) -> Response[bytes]:
        return await tokens.token(request)

    @post(["/api/oauth2/token/revoke", api_path + "/oauth2/token/revoke"])
    async def revoke(request: _Request) -> Response[bytes]:
        return await tokens.revoke(request)

    return [show, decide, token, revoke]


class _ConsentPage:
    def __init__(self, world: World, grants: Grants) -> None:
        self._world = world
        self._grants = grants

    def show(self, query: Mapping[str, str]) -> Response[Any]:
        asked = asked_of(self._world, query)
        people = [user for user in self._world.users() if not user.bot and not user.system]
        return _html(consent_page(asked, query, people), policy(asked.redirect_uri))

    def decide(self, fields: Mapping[str, str], *, own_page: bool) -> Response[Any]:
        if not own_page:
            raise Untrusted(
                "the form was sent by another page",
                next_step="Open the application's sign-in again and agree there.",
            )
        asked = asked_of(self._world, fields)
        if fields.get("decision") != "yes":
            return _redirect(asked.returning(error="access_denied"))
        user_id = _person(self._world, fields)
        grant = Grant(asked.application.id, user_id, frozenset(asked.scopes))
        code = self._grants.allow(grant, asked.redirect_uri, asked.challenge)
        return _redirect(asked.returning(code=code))


def _told(answer: Callable[[], Response[Any]]) -> Response[Any]:
    """What is answered, or who is told that nothing is."""
    try:
        return answer()
    except Untrusted as error:
        return _html(refusal_page(error), policy(), status=400)
    except SentBack as error:
        return _redirect(error.location)


class _TokenCalls:
    def __init__(self, world: World, grants: Grants) -> None:
        self._world = world
        self._grants = grants

    async def token(self, request: _Request) -> Response[bytes]:
        fields = await _form(request)
        application = self._authenticated(request, fields)
        if application is None:
            return _error(401, "invalid_client")
        kind = fields.get("grant_type")
        try:
            if kind == "authorization_code":
                tokens = self._grants.exchange(
                    application.id,
                    fields.get("code", ""),
                    fields.get("redirect_uri", ""),
                    fields.get("code_verifier"),
                )
            elif kind == "refresh_token":
                tokens = self._grants.refresh(application.id, fields.get("refresh_token", ""))
            else:
                return _error(400, "unsupported_grant_type")
        except GrantRefused:
            return _error(400, "invalid_grant")
        return _json(200, _answer(tokens))

    async def revoke(self, request: _Request) -> Response[bytes]:
        fields = await _form(request)
        application = self._authenticated(request, fields)
        if application is None:
            return _error(401, "invalid_client")
        self._grants.revoke(application.id, fields.get("token", ""))
        return _json(200, {})

    def _authenticated(self, request: _Request, fields: Mapping[str, str]) -> Application | None:
        """By HTTP Basic, or by fields of the form (RFC 6749, 2.3.1)."""
        client_id, secret = _basic(request.headers.get("authorization")) or (
            fields.get("client_id", ""),
            fields.get("client_secret", ""),
        )
        try:
            application = self._world.application(snowflake(client_id, ("client_id",)))
        except ApiError:
            return None
        same = hmac.compare_digest(secret.encode(), application.client_secret.encode())
        return application if same else None


async def _form(request: _Request) -> Mapping[str, str]:
    fields = (await read_body(request)).fields
    return fields if isinstance(fields, dict) else {}


def _basic(header: str | None) -> tuple[str, str] | None:
    scheme, _, encoded = (header or "").partition(" ")
    if scheme.lower() != "basic":
        return None
    try:
        name, _, secret = base64.b64decode(encoded, validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        return None
    return unquote(name), unquote(secret)


def _answer(tokens: Tokens) -> dict[str, Any]:
    return {
        "token_type": "Bearer",
        "access_token": tokens.access,
        "expires_in": ACCESS_SECONDS,
        "refresh_token": tokens.refresh,
        "scope": " ".join(sorted(tokens.grant.scopes)),
    }


def _from_own_page(request: _Request) -> bool:
    """A browser names the page that a form was on; a program that names none is no browser."""
    origin = request.headers.get("origin")
    return origin is None or origin.partition("://")[2] == request.headers.get("host")


def _person(world: World, fields: Mapping[str, str]) -> int:
    try:
        user = world.user(snowflake(fields.get("user_id"), ("user_id",)))
    except ApiError:
        user = None
    if user is None or user.bot:
        raise Untrusted("nobody was chosen", next_step="Go back and choose who you are.")
    return user.id


def _error(status: int, error: str) -> Response[bytes]:
    return _json(status, {"error": error})


def _json(status: int, content: Any) -> Response[bytes]:
    return Response(
        msgspec.json.encode(content),
        status_code=status,
        media_type="application/json",
        headers={"cache-control": "no-store"},
    )


def _html(page: str, content_policy: str, *, status: int = 200) -> Response[str]:
    return Response(
        page,
        status_code=status,
        media_type="text/html",
        headers={
            "cache-control": "no-store",
            "content-security-policy": content_policy,
            "referrer-policy": "same-origin",
            "x-content-type-options": "nosniff",
        },
    )


def _redirect(location: str) -> Response[bytes]:
    return Response(
        b"", status_code=_SEE_OTHER, headers={"location": location, "cache-control": "no-store"}
    )

"""The fleet's public HTTP, but for permits and charges: body calls, routes, public facts, health, and the description.

Owns these routes. Must not know the store.
"""

from typing import Annotated, Any, Final

import structlog
from litestar import Litestar, Request, Response, get, post
from litestar.exceptions import HTTPException
from litestar.openapi import OpenAPIConfig
from litestar.openapi.plugins import JsonRenderPlugin
from litestar.openapi.spec import (
    OpenAPIMediaType,
    OpenAPIResponse,
    Operation,
    PathItem,
    RequestBody,
)
from litestar.params import QueryParameter, RawBody

from clankie.fleet.asgi import MAX_BODY_BYTES, error_body, error_headers
from clankie.fleet.body_calls.service import BodyCalls
from clankie.fleet.body_calls.signed import SignedCall
from clankie.fleet.conditional import ConditionalAnswer
from clankie.fleet.contracts import (
    ChargeRequest,
    DiscordKeyRequest,
    Empty,
    ErrorAnswer,
    HostCredential,
    KeySet,
    PairingKeyRequest,
    Permit,
    PermitRequest,
    PublicFacts,
    Route,
)
from clankie.fleet.edge_calls.hot import CHARGES_PATH, PERMITS_PATH
from clankie.fleet.edge_calls.routes import EdgeRoutes
from clankie.fleet.errors import Refused
from clankie.fleet.facts_service import FactsService
from clankie.fleet.openapi import reads, refusals, schema_of
from clankie.protocol.wire_model import WireModel, write

log = structlog.get_logger(__name__)

OPENAPI_PATH: Final = "/openapi"
"""Where the description is, as JSON: `/openapi/openapi.json`."""
BODY_PREFIX: Final = "/fleet/v1/body/"

_CODES: Final = {404: "not_found", 405: "method_not_allowed"}
_INTERNAL_ERROR: Final = 500
_SIGNED: Final = refusals(
    s400="`malformed`",
    s401="`host_credential_invalid`, `body_signature_invalid`",
    s403="`pairing_key_required`, `installation_unknown`, `installation_revoked`, `installation_mismatch`",
    s413="`malformed`: the body is too large",
    s503="`unavailable`: ask again",
)
_AnyRequest = Request[Any, Any, Any]


def fleet_web(
    bodies: BodyCalls, edge_routes: EdgeRoutes, facts: FactsService, version: str
) -> Litestar:
    """The application behind the hot routes."""
    app = Litestar(
        [*_body_handlers(bodies), *_read_handlers(edge_routes, facts)],
        exception_handlers={Refused: refused, HTTPException: not_served, Exception: broken},
        request_max_body_size=MAX_BODY_BYTES,
        openapi_config=OpenAPIConfig(
            title="Clankie fleet",
            version=version,
            path=OPENAPI_PATH,
            render_plugins=[JsonRenderPlugin()],
        ),
        logging_config=None,
    )
    _describe_hot(app)
    return app


def _body_handlers(bodies: BodyCalls) -> list[Any]:
    async def counted(name: str, work: Any) -> Response[bytes]:
        try:
            model = await work
        except Refused as refusal:
            bodies.count(name, refusal.code)
            raise
        bodies.count(name, "ok")
        return _json(Empty() if model is None else model)

    @post(
        BODY_PREFIX + "pairing-key",
        status_code=200,
        summary="Register the body's signing key; unsigned, with a single-use token",
        operation_class=reads(PairingKeyRequest),
        responses=refusals(
            s400="`malformed`",
            s403="`registration_token_required`, `registration_token_invalid`, `registration_token_used`",
            s413="`malformed`: the body is too large",
            s503="`unavailable`: ask again",
        ),
    )
    async def pairing_key(body: RawBody) -> Response[bytes]:
        return await counted("pairing-key", bodies.pairing_key(body))

    @post(
        BODY_PREFIX + "host-credential",
        status_code=200,
        summary="A new host credential; signed",
        operation_class=reads(Empty),
        responses=_SIGNED,
    )
    async def host_credential(request: _AnyRequest, body: RawBody) -> Response[bytes]:
        return await counted("host-credential", bodies.host_credential(_call(request, body)))

    @post(
        BODY_PREFIX + "verify-keys",
        status_code=200,
        summary="The keys that verify what the fleet signs; signed",
        operation_class=reads(Empty),
        responses=_SIGNED,
    )
    async def verify_keys(request: _AnyRequest, body: RawBody) -> Response[bytes]:
        return await counted("verify-keys", bodies.verify_keys(_call(request, body)))

    @post(
        BODY_PREFIX + "discord-key",
        status_code=200,
        summary="Register the body's ingress key; signed",
        operation_class=reads(DiscordKeyRequest),
        responses=_SIGNED,
    )
    async def discord_key(request: _AnyRequest, body: RawBody) -> Response[bytes]:
        return await counted("discord-key", bodies.discord_key(_call(request, body)))

    return [pairing_key, host_credential, verify_keys, discord_key]


def _read_handlers(edge_routes: EdgeRoutes, facts: FactsService) -> list[Any]:
    @get(
        "/fleet/v1/edge/routes",
        summary="Where a server's or a person's messages go; held with `Prefer: wait`",
        responses=refusals(
            s400="`malformed`: one of guildId and userId is needed",
            s401="`unauthorized`",
            s404="`route_unknown`",
            s503="`unavailable`: ask again",
        ),
    )
    async def routes(
        request: _AnyRequest,
        guild_id: Annotated[str | None, QueryParameter(name="guildId")] = None,
        user_id: Annotated[str | None, QueryParameter(name="userId")] = None,
    ) -> Response[bytes]:
        return _conditional(await edge_routes.find(_headers(request), guild_id, user_id))

    @get(
        "/fleet/v1/keys",
        summary="Verify keys and revoked hosts, for gateways; held with `Prefer: wait`",
        responses=refusals(s503="`unavailable`: ask again"),
    )
    async def keys(request: _AnyRequest) -> Response[bytes]:
        address = request.client.host if request.client else "-"
        return _conditional(await facts.read(_headers(request), address))

    @get(
        "/health",
        summary="Whether the fleet and its store answer, and the store takes what is written",
        responses=refusals(s503="`unavailable`: a part is not well"),
    )
    async def health() -> dict[str, bool]:
        await facts.check()
        return {"ok": True}

    return [routes, keys, health]


def refused(_: _AnyRequest, refusal: Refused) -> Response[bytes]:
    """A refusal of ours."""
    return Response(
        error_body(refusal),
        status_code=refusal.status,
        headers=error_headers(refusal),
        media_type="application/json",
    )


def not_served(request: _AnyRequest, error: HTTPException) -> Response[bytes]:
    """What the web framework refuses by itself."""
    code = _CODES.get(error.status_code, "malformed")
    answer = refused(request, Refused(error.status_code, code))
    for name, value in (error.headers or {}).items():
        answer.set_header(name, value)
    return answer


def broken(request: _AnyRequest, error: Exception) -> Response[bytes]:
    """A bug. Its text could quote what was being handled; its class says where to look."""
    log.error("route_broken", path=request.url.path, error=type(error).__name__)
    return refused(request, Refused(_INTERNAL_ERROR, "internal"))


def _headers(request: _AnyRequest) -> dict[str, str]:
    return {name.lower(): value for name, value in request.headers.items()}


def _call(request: _AnyRequest, body: RawBody) -> SignedCall:
    return SignedCall(request.scope["path"], _headers(request), body)


def _json(model: WireModel) -> Response[bytes]:
    return Response(
        write(model), media_type="application/json", headers={"cache-control": "no-store"}
    )


def _conditional(answer: ConditionalAnswer) -> Response[bytes]:
    return Response(
        answer.body,
        status_code=answer.status,
        headers=answer.headers,
        media_type="application/json",
    )


def _describe_hot(app: Litestar) -> None:
    """Add the routes ahead of the framework, and what each answer holds, to its description."""
    paths = app.openapi_schema.paths
    if paths is None:
        return
    hot = (
        (PERMITS_PATH, "A permit for one request digest", PermitRequest, Permit),
        (CHARGES_PATH, "Count messages that were posted, once a key", ChargeRequest, Empty),
    )
    for path, summary, model, answer in hot:
        errors = {
            "400": "malformed",
            "401": "unauthorized",
            "404": "route_unknown",
            "413": "malformed",
        }
        errors |= (
            {"403": "route_blocked", "429": "limit_reached"}
            if answer is Permit
            else {"409": "charge_conflict"}
        )
        errors["503"] = "unavailable"
        paths[path] = PathItem(
            post=Operation(
                summary=summary,
                request_body=RequestBody(content=_content(model), required=True),
                responses={
                    "200": OpenAPIResponse(description="Granted", content=_content(answer)),
                    **{
                        status: OpenAPIResponse(
                            description=f"`{code}`", content=_content(ErrorAnswer)
                        )
                        for status, code in errors.items()
                    },
                },
            )
        )
    answers: tuple[tuple[str, Any], ...] = (
        (BODY_PREFIX + "pairing-key", Empty),
        (BODY_PREFIX + "discord-key", Empty),
        (BODY_PREFIX + "host-credential", HostCredential),
        (BODY_PREFIX + "verify-keys", KeySet),
        ("/fleet/v1/edge/routes", Route),
        ("/fleet/v1/keys", PublicFacts),
    )
    for path, answer in answers:
        operation = paths[path].post or paths[path].get
        if operation is not None and operation.responses is not None:
            operation.responses["200"] = OpenAPIResponse(
                description="Done", content=_content(answer)
            )
            if operation is paths[path].get:
                operation.responses["304"] = OpenAPIResponse(description="As the reader has it")


def _content(model: type[WireModel]) -> dict[str, OpenAPIMediaType]:
    return {"application/json": OpenAPIMediaType(schema=schema_of(model))}

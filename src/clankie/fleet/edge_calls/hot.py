"""`POST /fleet/v1/edge/permits` and `…/charges` as a plain ASGI callable, ahead of the web framework.

An edge asks for a permit with every envelope, polls included. Owns reading the request and writing the answer. Must
not know the rules.
"""

from typing import Final

from clankie.fleet.asgi import (
    AsgiApp,
    Receive,
    Scope,
    Send,
    error_body,
    error_headers,
    header,
    read_body,
    send_json,
)
from clankie.fleet.contracts import ChargeRequest, PermitRequest
from clankie.fleet.edge_calls.service import EdgeCalls
from clankie.fleet.errors import Refused
from clankie.protocol.errors import ProtocolError
from clankie.protocol.wire_model import ModelT, Reader, write

PERMITS_PATH: Final = "/fleet/v1/edge/permits"
CHARGES_PATH: Final = "/fleet/v1/edge/charges"
_NO_STORE: Final = {"cache-control": "no-store"}

_PERMIT: Reader[PermitRequest] = Reader(PermitRequest)
_CHARGE: Reader[ChargeRequest] = Reader(ChargeRequest)


class EdgeRoute:
    """Answers the two paths, and hands every other request on.

    Args:
        calls: what they do.
        others: the ASGI application behind it.
    """

    def __init__(self, calls: EdgeCalls, others: AsgiApp) -> None:
        self._calls = calls
        self._others = others

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] not in {PERMITS_PATH, CHARGES_PATH}:
            await self._others(scope, receive, send)
            return
        try:
            answer = await self._answer(scope, receive)
        except Refused as refusal:
            await send_json(send, refusal.status, error_body(refusal), error_headers(refusal))
            return
        if answer is not None:
            await send_json(send, 200, answer, _NO_STORE)

    async def _answer(self, scope: Scope, receive: Receive) -> bytes | None:
        """The answer's body, or None when the caller has gone."""
        if scope["method"] != "POST":
            raise Refused(405, "method_not_allowed")
        # First of all: whoever has no bearer of ours makes the fleet read and parse nothing.
        edge = await self._calls.authenticator.identify(header(scope["headers"], b"authorization"))
        body = await read_body(receive)
        if body is None:
            return None
        if scope["path"] == PERMITS_PATH:
            return write(await self._calls.permit(edge, _read(_PERMIT, body)))
        await self._calls.charge(edge, _read(_CHARGE, body))
        return b"{}"


def _read(reader: Reader[ModelT], body: bytes) -> ModelT:
    try:
        return reader.read(body)
    except ProtocolError:
        raise Refused(400, "malformed") from None

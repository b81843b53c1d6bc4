"""What the owner's own programs may ask a running gateway on loopback: passages, by the permits they know of.

Owns this call and its bearer. Must not know who asks (`runtime.loopback_guard`).
"""

from typing import Annotated, Final

import msgspec

from clankie.gateway.asgi import Receive, Scope, Send, answer, error_body
from clankie.gateway.passages import Passage, Passages
from clankie.protocol import base64url
from clankie.protocol.primitives import random_bytes
from clankie.runtime.broker import Broker
from clankie.runtime.credentials import KEY_BYTES, TokenCredential

OPERATOR_BEARER: Final = "clankie-gateway-operator"
"""The broker's id of the operator's bearer; made when it is first needed."""
OPERATOR_PREFIX: Final = "/v1/operator/"
PASSAGES_PATH: Final = OPERATOR_PREFIX + "passages"
MAX_PERMITS: Final = 256
"""Permits asked for at once: a delivery that is polled for five minutes has fewer."""
MAX_BODY_BYTES: Final = 16_384


class PassagesAsked(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """The permits, by their `jti`."""

    permit_ids: Annotated[
        tuple[Annotated[str, msgspec.Meta(min_length=1, max_length=43)], ...],
        msgspec.Meta(max_length=MAX_PERMITS),
    ]


class PassagesSeen(msgspec.Struct, frozen=True, rename="camel"):
    """What passed under them, oldest first. It goes away with the process."""

    seen: list[Passage]


def operator_bearer(broker: Broker) -> str:
    """The operator's bearer. Raises BrokerError."""
    return broker.get_or_create(
        OPERATOR_BEARER,
        TokenCredential,
        lambda: TokenCredential(base64url.encode(random_bytes(KEY_BYTES))),
    ).token


class OperatorRoute:
    """The application behind the guard."""

    def __init__(self, passages: Passages) -> None:
        self._passages = passages

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if (scope["method"], scope["path"]) != ("POST", PASSAGES_PATH):
            await answer(send, 404, error_body("not_found"), close=True)
            return
        body = await _read(receive)
        try:
            asked = msgspec.json.decode(body, type=PassagesAsked)
        except msgspec.MsgspecError:
            await answer(send, 400, error_body("malformed"), close=True)
            return
        seen = PassagesSeen(self._passages.of(frozenset(asked.permit_ids)))
        await answer(send, 200, msgspec.json.encode(seen))


async def _read(receive: Receive) -> bytes:
    """The body, or of one too large no more than shows that it is none of ours."""
    parts: list[bytes] = []
    size = 0
    while size <= MAX_BODY_BYTES:
        message = await receive()
        part: bytes = message.get("body", b"")
        parts.append(part)
        size += len(part)
        if not message.get("more_body"):
            return b"".join(parts)
    return b""

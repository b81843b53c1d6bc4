"""What both ways to the ingress share: its bound on a body, and the headers of its answers (wire.md 8).

The ASGI route and the gateway's tunnel differ only in how bytes come and go. Must not know either.
"""

from typing import Final

from clankie.body.connector.contracts import Response
from clankie.body.ingress.prefer import wait_seconds
from clankie.body.ingress.service import TOO_LARGE, Answer, IngressService

MAX_BODY_BYTES: Final = 131_072
"""wire.md 8: an envelope is at most 104 400 bytes or so."""
RETRY_AFTER_SECONDS: Final = "5"
"""Seconds a caller is told to wait after 429 and 503."""

_COMMON_HEADERS: Final = (("content-type", "application/json"), ("cache-control", "no-store"))
_RETRY: Final = (429, 503)


def answer_headers(answer: Answer) -> tuple[tuple[str, str], ...]:
    """The headers of an answer, but for those that are the connection's own."""
    headers: tuple[tuple[str, str], ...] = _COMMON_HEADERS
    if answer.waited is not None:
        headers += (("preference-applied", f"wait={answer.waited}"),)
    if answer.status in _RETRY:
        headers += (("retry-after", RETRY_AFTER_SECONDS),)
    return headers


class InProcessIngress:
    """The ingress as the tunnel calls it."""

    def __init__(self, service: IngressService) -> None:
        self._service = service

    async def __call__(self, body: bytes, prefer: str) -> Response:
        """Answer one POST. May be cancelled at any await: that ends its wait and never the turn."""
        answer = self._service.refuse_early()
        if answer is None and len(body) > MAX_BODY_BYTES:
            answer = TOO_LARGE
        if answer is None:
            answer = await self._service.take(body, wait_seconds(prefer) if prefer else 0)
        return Response(answer.status, answer_headers(answer), answer.body)

"""The host side: `GET /gateway/v1/hosts/connect` as a WebSocket (wire.md 11).

Owns letting a host in, and its tunnel's life. Must not know the public side.
"""

import logging
from typing import Final
from urllib.parse import parse_qsl

import structlog

from clankie.gateway.asgi import Receive, Scope, Send, reject
from clankie.gateway.budget import Budget
from clankie.gateway.credentials import Host, HostCredentials
from clankie.gateway.errors import TrustUnknown
from clankie.gateway.metrics import GatewayMetrics
from clankie.gateway.refusals import RefusalLimit
from clankie.gateway.tunnel import ID_PREFIX_LENGTH, HostTunnel
from clankie.gateway.tunnels import Tunnels
from clankie.protocol import base64url
from clankie.protocol.errors import InvalidToken
from clankie.protocol.gateway_frames import CONNECT_PATH, TAKES_OVER_HEADER
from clankie.protocol.primitives import random_bytes
from clankie.runtime.clock import Clock

log = structlog.get_logger(__name__)

_CONNECT_PATH: Final = CONNECT_PATH.encode("ascii")
_TAKES_OVER: Final = (TAKES_OVER_HEADER.encode("ascii"), b"1")
_COUNTED: Final = logging.INFO
_UNCOUNTED: Final = logging.DEBUG
_BEARER: Final = b"bearer "


class Refused(Exception):
    """A dial that is not let in."""

    def __init__(self, status: int, code: str, *, counts: bool = False) -> None:
        super().__init__(code)
        self.status = status
        self.code = code
        self.counts = counts


class HostRoute:
    """Lets hosts in and keeps their tunnels.

    Args:
        max_tunnels: further hosts are refused.
    """

    def __init__(
        self,
        tunnels: Tunnels,
        credentials: HostCredentials,
        refusals: RefusalLimit,
        metrics: GatewayMetrics,
        total: Budget,
        clock: Clock,
        *,
        max_tunnels: int,
    ) -> None:
        self._tunnels = tunnels
        self._credentials = credentials
        self._refusals = refusals
        self._metrics = metrics
        self._total = total
        self._clock = clock
        self._max_tunnels = max_tunnels

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await receive()  # websocket.connect
        address = self._refusals.address(scope)
        try:
            host = self._admit(scope, address)
        except Refused as refused:
            if refused.counts:
                self._refusals.count(address)
            self._metrics.refused(refused.code)
            # Anyone may dial as often as he likes; what counts against his address has a bound.
            log.log(_COUNTED if refused.counts else _UNCOUNTED, "dial_refused", code=refused.code)
            await reject(send, refused.status, refused.code)
            return
        await send({"type": "websocket.accept"})
        tunnel = HostTunnel(
            host,
            send,
            prefix=base64url.encode(random_bytes(ID_PREFIX_LENGTH * 3 // 4)),
            total=self._total,
            connected_at_ms=self._clock.now_ms(),
        )
        self._tunnels.add(tunnel, takes_over=_TAKES_OVER in scope["headers"])
        log.info("tunnel_open", host_id=host.host_id)
        code = 0
        try:
            code = await tunnel.run(receive)
        finally:
            self._tunnels.remove(tunnel)
            self._metrics.ended(code)
            log.info("tunnel_closed", host_id=host.host_id, code=code)

    def _admit(self, scope: Scope, address: str) -> Host:
        """Who dials, once all of this holds:

        1. it is the one path there is, with exactly the two parameters it takes,
        2. the gateway goes on and has room,
        3. the address was not refused too often lately: from here on a dial costs a signature's verification,
        4. there is one bearer, and it is this host's credential.
        """
        # 1
        if scope["raw_path"] != _CONNECT_PATH:
            raise Refused(404, "route_not_found")
        host_id, installation_id = _parameters(scope["query_string"])
        # 2
        if self._tunnels.draining:
            raise Refused(503, "gateway_draining")
        if len(self._tunnels) >= self._max_tunnels and self._tunnels.get(host_id) is None:
            raise Refused(503, "gateway_busy")
        # 3
        if self._refusals.exhausted(address):
            raise Refused(429, "too_many_refusals")
        # 4
        bearers = [value for name, value in scope["headers"] if name == b"authorization"]
        if len(bearers) != 1 or bearers[0][: len(_BEARER)].lower() != _BEARER:
            raise Refused(401, "unauthorized", counts=True)
        try:
            return self._credentials.verify(
                bearers[0][len(_BEARER) :].strip().decode("latin-1"),
                host_id=host_id,
                installation_id=installation_id,
            )
        except InvalidToken:
            raise Refused(401, "unauthorized", counts=True) from None
        except TrustUnknown:
            raise Refused(503, "trust_unavailable") from None


def _parameters(query: bytes) -> tuple[str, str]:
    try:
        pairs = parse_qsl(query.decode("ascii"), keep_blank_values=True, strict_parsing=True)
    except ValueError:
        pairs = []
    given = dict(pairs)
    if len(pairs) != 2 or given.keys() != {"hostId", "installationId"}:
        raise Refused(400, "malformed")
    return given["hostId"], given["installationId"]

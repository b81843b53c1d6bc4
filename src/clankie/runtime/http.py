"""One ASGI application on one TCP port.

Owns binding, the server's limits, and how it stops. Must not know what the application serves.
Signals are not its business: `lifecycle` hears them and calls `stop`.
"""

import asyncio
import errno
import ipaddress
import logging
import socket
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import structlog
import uvicorn

from clankie.runtime.errors import AddressUnavailable
from clankie.runtime.http_protocol import BoundedHttpProtocol

if TYPE_CHECKING:  # only a gateway loads the WebSocket library
    from clankie.runtime.http_websocket import WebSocketLimits

BACKLOG: Final = 1_024  # connections the kernel holds until they are accepted
MAX_CONNECTIONS: Final = 4_096  # further ones are answered 503; each held one costs about 20 KiB
KEEP_ALIVE_SECONDS: Final = (
    75  # longer than a poller's pause, so that its connection is still there
)
TICK_SECONDS: Final = 1.0  # how often the Date header moves on
FLUSH_SECONDS: Final = 0.2  # for what was just written to get out, also when there is no grace
LEFT_SECONDS: Final = 0.005  # how often a server that stops looks whether something is left
ABORT_SECONDS: Final = 1.0  # what a cancelled request gets to answer before its connection is cut

Asgi = Callable[[Any, Any, Any], Any]

log = structlog.get_logger(__name__)


def _is_an_error(record: logging.LogRecord) -> bool:
    """That a request was cancelled is `stop`'s doing, which uvicorn reports as the application's failure."""
    return not (record.exc_info and isinstance(record.exc_info[1], asyncio.CancelledError))


logging.getLogger("uvicorn.error").addFilter(_is_an_error)


class HttpServer:
    """Serves one application.

    Args:
        app: an ASGI 3 application without a lifespan.
        host: an IP address.
        port: 0 lets the system pick one.
        max_connections: of all kinds; further requests are answered 503.
        websockets: what WebSockets are granted; without it an upgrade is answered as a plain request.
    """

    def __init__(
        self,
        app: Asgi,
        host: str,
        port: int,
        *,
        max_connections: int = MAX_CONNECTIONS,
        websockets: "WebSocketLimits | None" = None,
    ) -> None:
        self._host = host
        self._port = port
        config = uvicorn.Config(
            app,
            loop="none",
            http=BoundedHttpProtocol,
            ws=websockets.protocol() if websockets else "none",  # type: ignore[arg-type]
            ws_max_size=websockets.max_message_bytes if websockets else 0,
            ws_ping_interval=websockets.ping_seconds if websockets else None,
            ws_ping_timeout=websockets.pong_seconds if websockets else None,
            ws_per_message_deflate=False,
            lifespan="off",
            interface="asgi3",
            log_config=None,
            access_log=False,
            proxy_headers=False,  # nobody may choose the address a request seems to come from
            server_header=False,
            backlog=BACKLOG,
            limit_concurrency=max_connections,
            timeout_keep_alive=KEEP_ALIVE_SECONDS,
        )
        config.load()
        self._server = uvicorn.Server(config)
        self._server.lifespan = config.lifespan_class(config)
        self._socket: socket.socket | None = None
        self._ticking: asyncio.Task[None] | None = None

    @property
    def port(self) -> int:
        """The port that is listened on, once started."""
        return self._port

    async def start(self) -> None:
        """Listen. On return, a connection is answered.

        Raises:
            AddressUnavailable: with what to do about it.
        """
        self._socket = _bind(self._host, self._port)
        self._port = self._socket.getsockname()[1]
        await self._server.on_tick(0)
        await self._server.startup(sockets=[self._socket])
        self._ticking = asyncio.get_running_loop().create_task(self._tick())

    def stop_listening(self) -> None:
        """Take no new connection; what is connected goes on until `stop`."""
        for listener in self._server.servers if self._ticking is not None else ():
            listener.close()

    async def stop(self, grace_seconds: float) -> None:
        """Listen no more, let started requests end, then cut what is left.

        May be cancelled and called again with a shorter grace.

        Args:
            grace_seconds: how long started requests get. They are then cancelled.
        """
        if self._ticking is None or self._socket is None:
            return
        self._ticking.cancel()
        # Not uvicorn's own shutdown: that one takes a tenth of a second when nothing is connected, and logs an error
        # however the grace ends.
        self.stop_listening()
        self._socket.close()
        for connection in list(self._server.server_state.connections):
            connection.shutdown()
        tasks = self._server.server_state.tasks
        try:
            async with asyncio.timeout(FLUSH_SECONDS + grace_seconds):
                await self._until_nothing_is_left()
        except TimeoutError:
            if tasks:
                log.info("requests_cancelled", count=len(tasks))
            for task in tasks:
                task.cancel()
        if tasks:
            await asyncio.wait(set(tasks), timeout=ABORT_SECONDS)
        for connection in list(self._server.server_state.connections):
            connection.transport.abort()
        self._socket = None

    async def _until_nothing_is_left(self) -> None:
        state = self._server.server_state
        while state.connections or state.tasks:  # noqa: ASYNC110 - uvicorn tells nobody when its last one has gone
            await asyncio.sleep(LEFT_SECONDS)

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(TICK_SECONDS)
            await self._server.on_tick(0)


def _bind(host: str, port: int) -> socket.socket:
    version = ipaddress.ip_address(host).version
    listener = socket.socket(socket.AF_INET6 if version == 6 else socket.AF_INET)
    try:
        # A role that was just stopped must be able to come back to its port at once.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(BACKLOG)
    except OSError as error:
        listener.close()
        raise _unavailable(host, port, error) from error
    listener.setblocking(False)
    return listener


def _unavailable(host: str, port: int, error: OSError) -> AddressUnavailable:
    if error.errno == errno.EADDRINUSE:
        return AddressUnavailable(
            f"port {port} of {host} is taken by another process",
            next_step="Stop that process, or choose another port (0 lets the system pick one).",
        )
    if error.errno == errno.EACCES:
        return AddressUnavailable(
            f"port {port} of {host} needs more rights than this user has",
            next_step="Choose a port of 1024 or above.",
        )
    return AddressUnavailable(
        f"{host} port {port} cannot be listened on: {error.strerror}",
        next_step="Choose an address of this machine, such as 127.0.0.1.",
    )

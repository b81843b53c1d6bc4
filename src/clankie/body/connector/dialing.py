"""One dial: from an origin and a credential to a connected WebSocket.

Owns the URL, the bounds, and what each refusal is called. Must not know when to dial.
"""

from typing import Final
from urllib.parse import urlencode

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import InvalidStatus, WebSocketException

from clankie.protocol.gateway_frames import CONNECT_PATH, MAX_FRAME_BYTES, TAKES_OVER_HEADER

_REFUSALS: Final = (401, 403)


class DialFailed(Exception):
    """No tunnel. `reason` is one word, without anything the other side said; `refused`: the credential is to blame."""

    def __init__(self, reason: str, *, refused: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.refused = refused


class _Connect(connect):
    """Follows no redirect: the credential is for the origin it was given for."""

    def process_redirect(self, exc: Exception) -> Exception | str:
        return exc


def connect_url(gateway_origin: str, host_id: str, installation_id: str) -> str:
    """Where a host dials."""
    query = urlencode({"hostId": host_id, "installationId": installation_id})
    return f"{gateway_origin.replace('http', 'ws', 1)}{CONNECT_PATH}?{query}"


async def dial(
    url: str,
    credential: str,
    *,
    open_seconds: float,
    close_seconds: float,
    takes_over: bool = False,
) -> ClientConnection:
    """A connected tunnel.

    Args:
        takes_over: from an older tunnel of this process, which may first end its exchanges.

    Raises:
        DialFailed: with the reason.
    """
    if not credential.strip():
        raise DialFailed("credential_blank", refused=True)
    headers = {"authorization": f"Bearer {credential}"}
    if takes_over:
        headers[TAKES_OVER_HEADER] = "1"
    try:
        return await _Connect(
            url,
            additional_headers=headers,
            compression=None,
            user_agent_header=None,
            proxy=None,  # a variable set for something else must not move the tunnel to another path
            open_timeout=open_seconds,
            ping_interval=None,  # the session pings, with a deadline for the ping itself as well
            close_timeout=close_seconds,
            max_size=MAX_FRAME_BYTES,
        )
    except InvalidStatus as error:
        status = error.response.status_code
        raise DialFailed(f"http_{status}", refused=status in _REFUSALS) from None
    except TimeoutError:
        raise DialFailed("timeout") from None
    except (OSError, EOFError, WebSocketException) as error:
        raise DialFailed(type(error).__name__) from None

"""Who answers on the body's port: our kind of service, a stranger, or nobody.

Owns asking. Must not know what the answer means for any part. What answers on a loopback port may be any program of
this machine: its report is shown, and nothing is done on its word.
"""

import errno
import http.client
import socket
from typing import Final

import msgspec

from clankie.body.health import Health
from clankie.runtime.settings import BodyConfig

ANSWER_SECONDS: Final = 3.0
"""For a service on this machine; its health blocks on nothing."""
MAX_REPORT_BYTES: Final = 65_536
"""A report has under 1 KiB."""
_EVERYWHERE: Final = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - looked up, not listened on


class Nobody(msgspec.Struct, frozen=True):
    """The port is free, or cannot be listened on: then `why` says so."""

    why: str = ""


class Stranger(msgspec.Struct, frozen=True):
    """Something that is no body has the port."""


class RunningBody(msgspec.Struct, frozen=True):
    """A body answers, and this is what it says of itself."""

    health: Health


Occupant = Nobody | Stranger | RunningBody


def occupant(body: BodyConfig) -> Occupant:
    """Ask on the configured port. With port 0 nobody can be asked, since the system picks one anew each time."""
    if body.port == 0:
        return Nobody()
    connection = http.client.HTTPConnection(
        _EVERYWHERE.get(body.host, body.host), body.port, timeout=ANSWER_SECONDS
    )
    try:
        connection.request("GET", "/health")
        report = connection.getresponse().read(MAX_REPORT_BYTES)
        return RunningBody(msgspec.json.decode(report, type=Health))
    except ConnectionRefusedError:
        return Nobody(_why_not(body.host, body.port))
    except (OSError, http.client.HTTPException, msgspec.DecodeError, UnicodeDecodeError) as error:
        if isinstance(error, OSError) and error.errno == errno.EADDRNOTAVAIL:
            return Nobody(_why_not(body.host, body.port))
        return Stranger()
    finally:
        connection.close()


def _why_not(host: str, port: int) -> str:
    """Why the port could not be listened on; empty when it could. It is bound for a moment, and nobody can connect."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError as error:
            return error.strerror or type(error).__name__
    return ""

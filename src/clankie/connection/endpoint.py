"""Where envelopes and bearers may be sent: the address of a body's ingress, or of a fleet. Pure. Must not know how."""

import ipaddress

import ada_url

from clankie.connection.errors import EndpointInvalid
from clankie.protocol.discord_ingress import DISCORD_INGRESS_PATH


def ingress_url(endpoint: str) -> str:
    """The URL to post envelopes to.

    Args:
        endpoint: the base: a body's origin, such as `http://127.0.0.1:8787`, or a gateway's with the host's prefix,
            such as `https://gateway.example/h/<hostId>`.

    Raises:
        EndpointInvalid: not https (http on loopback only: permits, sizes and times travel beside what is sealed),
            or with credentials, a query or a fragment.
    """
    return base_url(endpoint) + DISCORD_INGRESS_PATH


def base_url(endpoint: str) -> str:
    """The endpoint without a slash at its end, once it is one that secrets may be sent to.

    Raises:
        EndpointInvalid: as with `ingress_url`.
    """
    if not ada_url.check_url(endpoint):
        raise _invalid("is not a URL")
    url = ada_url.URL(endpoint)
    if url.protocol != "https:" and not (
        url.protocol == "http:" and _is_loopback(url.hostname.strip("[]"))
    ):
        raise _invalid("is neither https nor http on loopback")
    if url.username or url.password:
        raise _invalid("holds credentials, and the ingress takes none")
    if "?" in endpoint or "#" in endpoint:
        raise _invalid("has a query or a fragment")
    return url.origin + url.pathname.rstrip("/")


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _invalid(why: str) -> EndpointInvalid:
    # The endpoint itself is not repeated: it may hold a password.
    return EndpointInvalid(
        f"the endpoint {why}",
        next_step="Give the base URL of a body, a gateway (https://gateway.example/h/<hostId>) or a fleet.",
    )

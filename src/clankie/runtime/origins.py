"""Which origins a role may dial: https, or http on this machine alone. Pure. Must not know what is asked there."""

import ipaddress

import ada_url


def is_dialable_origin(text: str) -> bool:
    """Whether this is an exact origin, such as `https://fleet.example`; http on loopback only."""
    if not ada_url.check_url(text):
        return False
    url = ada_url.URL(text)
    if url.origin != text:
        return False
    return url.protocol == "https:" or (
        url.protocol == "http:" and _is_loopback(url.hostname.strip("[]"))
    )


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False

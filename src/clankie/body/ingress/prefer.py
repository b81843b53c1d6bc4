"""The `Prefer: wait=N` of a request (wire.md 8; RFC 7240): how long the caller would be held.

Pure. Must not know what is waited for.
"""

import re

MAX_WAIT_SECONDS = 25
"""Under what proxies and the gateway (60 s) bear, with room for the round trip; more is taken as this."""

_WAIT = re.compile(
    r'(?:^|[,;])\s*wait\s*=\s*"?([0-9]{1,9})"?\s*(?=$|[,;])', re.IGNORECASE | re.ASCII
)


def wait_seconds(prefer: str) -> int:
    """The seconds a caller would wait, 0 to 25. What cannot be read is no preference.

    Args:
        prefer: the header's value; several headers are joined by commas.
    """
    match = _WAIT.search(prefer)
    return min(int(match[1]), MAX_WAIT_SECONDS) if match else 0

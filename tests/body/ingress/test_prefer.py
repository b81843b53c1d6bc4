"""How a caller's `Prefer` is read (wire.md 8, RFC 7240)."""

import pytest

from clankie.body.ingress.prefer import MAX_WAIT_SECONDS, wait_seconds


@pytest.mark.parametrize(
    ("prefer", "seconds"),
    [
        ("wait=7", 7),
        ("wait=0", 0),
        ("wait=25", 25),
        ("wait=26", MAX_WAIT_SECONDS),
        ("wait=999999999", MAX_WAIT_SECONDS),
        ("Wait = 7", 7),
        ('wait="7"', 7),
        ("respond-async, wait=7", 7),
        ("respond-async,wait=7,handling=lenient", 7),
        ("return=minimal; foo=bar, wait=7", 7),
    ],
)
def test_a_preference_to_wait_is_read_and_bounded(prefer: str, seconds: int) -> None:
    assert wait_seconds(prefer) == seconds


@pytest.mark.parametrize(
    "prefer",
    [
        "",
        "wait",
        "wait=",
        "wait=-1",
        "wait=1.5",
        "wait=x",
        "wait=٣",
        "await=7",
        "wait=7x",
        "wait=9999999999",
    ],
)
def test_what_cannot_be_read_is_no_preference(prefer: str) -> None:
    assert wait_seconds(prefer) == 0

"""Which names are this machine's, on ports that a page in a browser could reach under a name of its own making."""

import pytest

from clankie.runtime.loopback_guard import names_loopback


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "127.0.0.1:8787",
        "127.0.0.9:1",
        "localhost",
        "LocalHost:80",
        "[::1]",
        "[::1]:80",
    ],
)
def test_this_machines_names_are_taken_on_any_port(host: str) -> None:
    assert names_loopback([(b"host", host.encode())])


@pytest.mark.parametrize(
    "host",
    ["", "x", "evil.example", "localhost.evil.example", "evil.example:80", "127.0.0.1.evil.example",
     "192.0.2.1", "[2001:db8::1]:80", "203.0.113.0", "localhost:80:80", "\xff"],
)  # fmt: skip
def test_any_other_is_refused(host: str) -> None:
    assert not names_loopback([(b"host", host.encode("latin-1"))])
    assert not names_loopback([(b"host", b"localhost"), (b"host", host.encode("latin-1"))])


def test_a_probe_that_names_nobody_is_no_browser() -> None:
    assert names_loopback([(b"accept", b"*/*")])

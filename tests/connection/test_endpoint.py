"""Where a connection may send envelopes, and with which key."""

import pytest

from clankie.connection import EndpointInvalid, RegisteredKeyInvalid
from clankie.connection.endpoint import ingress_url
from clankie.protocol.discord_ingress import Silent
from connection.conftest import Connect, EventMaker
from connection.stranger import PUBLIC_KEY, Stranger

HOST_ID = "h" * 43


@pytest.mark.parametrize(
    ("endpoint", "url"),
    [
        ("http://127.0.0.1:8787", "http://127.0.0.1:8787/v1/discord/ingress"),
        ("http://127.0.0.1:8787/", "http://127.0.0.1:8787/v1/discord/ingress"),
        ("http://localhost:1", "http://localhost:1/v1/discord/ingress"),
        ("http://[::1]:8787", "http://[::1]:8787/v1/discord/ingress"),
        ("https://gw.example", "https://gw.example/v1/discord/ingress"),
        (
            f"https://gw.example:8443/h/{HOST_ID}/",
            f"https://gw.example:8443/h/{HOST_ID}/v1/discord/ingress",
        ),
    ],
)
def test_an_endpoint_is_a_base_url(endpoint: str, url: str) -> None:
    assert ingress_url(endpoint) == url


@pytest.mark.parametrize(
    "endpoint",
    [
        "",
        "gw.example",
        "/v1",
        "http://gw.example",
        "http://192.168.1.5:8787",
        "http://127.0.0.1.example",
        "http://localhost.example",
        "ws://127.0.0.1",
        "file:///etc/passwd",
        "https://me:MARKER@gw.example",
        "https://gw.example?to=MARKER",
        "https://gw.example/#MARKER",
        "https://gw.example/?",
        "https://",
        "https://gw example",
    ],
)
def test_what_is_no_such_url_is_refused_without_repeating_it(endpoint: str) -> None:
    with pytest.raises(EndpointInvalid) as raised:
        ingress_url(endpoint)
    assert "MARKER" not in str(raised.value)
    assert raised.value.next_step


async def test_envelopes_go_to_the_path_under_the_gateways_host_prefix(
    connect: Connect, make_event: EventMaker, other_side: Stranger
) -> None:
    other_side.says(other_side.sealed(Silent()))
    await connect(endpoint=f"{other_side.endpoint}/h/{HOST_ID}").ask(make_event())
    assert other_side.requests[0].line == f"POST /h/{HOST_ID}/v1/discord/ingress HTTP/1.1"
    assert other_side.requests[0].headers["content-type"] == "application/json"


@pytest.mark.parametrize(
    "key",
    ["", "A" * 87, PUBLIC_KEY + "=", PUBLIC_KEY[:-1], "C" + PUBLIC_KEY[1:], PUBLIC_KEY.lower()],
)
async def test_a_key_that_is_none_is_refused_when_the_connection_is_made(
    connect: Connect, key: str, other_side: Stranger
) -> None:
    with pytest.raises(RegisteredKeyInvalid):
        connect(key=key)
    assert other_side.requests == []

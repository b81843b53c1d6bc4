"""Where an envelope is full: the last event that fits is delivered, the next is refused by name before any draw."""

import json
from typing import Any

import pytest

from clankie.protocol.discord_ingress import (
    DiscordIngressEvent,
    envelope_json,
    event_json,
    parse_event,
)
from clankie.protocol.discord_ingress_crypto import MAX_PLAINTEXT, prepare_discord_ingress
from clankie.protocol.errors import InvalidValue, PlaintextTooLarge
from clankie.protocol.fleet_tokens import sign_permit
from protocol.vectors import (
    BODY_PUBLIC_KEY,
    EVENT_TEXT,
    FLEET_KEYS,
    INSTALLATION,
    NOW_MS,
    TENANT,
    open_here,
)

HTTP_BODY_BYTES = 131_072


def event_of_size(size: int) -> DiscordIngressEvent:
    """An event whose canonical text has that many bytes: six for each control character, one for each `x`."""
    without = len(EVENT_TEXT.encode()) - len("hello there")
    controls, plain = divmod(size - without, 6)
    event = json.loads(EVENT_TEXT) | {"content": "\x01" * controls + "x" * plain}
    parsed = parse_event(json.dumps(event))
    assert len(event_json(parsed)) == size
    return parsed


@pytest.mark.seed("S8", "S15")
def test_the_largest_event_that_sealed_can_hold_is_delivered() -> None:
    event = event_of_size(74_972)
    with prepare_discord_ingress(event, BODY_PUBLIC_KEY) as client:
        permit = sign_permit(
            FLEET_KEYS[0],
            tenant_id=TENANT,
            installation_id=INSTALLATION,
            digest=client.digest,
            now_ms=NOW_MS,
        )
        envelope = client.seal(permit).envelope
    assert len(envelope.sealed) == 100_000
    body = envelope_json(envelope)
    assert len(body) <= HTTP_BODY_BYTES
    assert open_here(body).event == event


@pytest.mark.seed("S8")
def test_an_event_one_byte_larger_is_refused_by_name_and_nothing_is_drawn() -> None:
    with pytest.raises(PlaintextTooLarge):
        prepare_discord_ingress(
            event_of_size(MAX_PLAINTEXT + 1),
            BODY_PUBLIC_KEY,
            random_bytes=lambda _: pytest.fail("a key was drawn"),
        )


LIFE: list[tuple[dict[str, Any], bool]] = [
    ({"expiresAtMs": 1790000300000}, True),
    ({"expiresAtMs": 1790000300001}, False),
    ({"expiresAtMs": 1790000000001}, True),
    ({"expiresAtMs": 1790000000000}, False),
    ({"eventAtMs": 0, "expiresAtMs": 1}, True),
    ({"eventAtMs": -1, "expiresAtMs": 1}, False),
]


@pytest.mark.seed("S8")
@pytest.mark.parametrize(("times", "taken"), LIFE, ids=[str(times) for times, _ in LIFE])
def test_an_event_lives_at_least_a_millisecond_and_at_most_five_minutes(
    times: dict[str, Any], taken: bool
) -> None:
    text = json.dumps(json.loads(EVENT_TEXT) | times)
    if taken:
        assert parse_event(text).event_at_ms >= 0
    else:
        with pytest.raises(InvalidValue):
            parse_event(text)

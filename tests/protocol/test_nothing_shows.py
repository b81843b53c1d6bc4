"""No error and no repr holds what the input held: both end in logs, and people's words and keys must not."""

import json
import traceback
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from clankie.protocol import base64url, js_json
from clankie.protocol.channel_turn import parse_turn_request, parse_turn_result
from clankie.protocol.discord_ingress import (
    Reply,
    VoiceReply,
    VoiceToolAnswer,
    parse_envelope,
    parse_event,
    parse_result,
)
from clankie.protocol.discord_ingress_crypto import prepare_discord_ingress
from clankie.protocol.discord_turn import turn_request_for
from clankie.protocol.errors import ProtocolError
from clankie.protocol.fleet_tokens import load_verify_keys, sign_permit, verify_host_credential
from clankie.protocol.primitives import AeadKey, Ed25519PrivateKey, P256PrivateKey
from protocol.forge import Exchange
from protocol.test_discord_turn import handoff
from protocol.vectors import (
    BODY_PUBLIC_KEY,
    EVENT_TEXT,
    FLEET_KEYS,
    INSTALLATION,
    NOW_MS,
    TENANT,
    VERIFY_KEYS,
    open_here,
)

MARKER = "SecretWords"
SPOOFS = [
    MARKER,
    f"x` - at `$.{MARKER}",
    f"$.{MARKER}",
    f"{MARKER}\ud800",
    f"{MARKER}é",
    f"Invalid value '{MARKER}",
]
"""Some are spelled as parts of a message, so that what cuts values out of it might be led astray."""


def shown(error: BaseException) -> str:
    """All that a log of the error would hold."""
    return "".join(traceback.format_exception(error)) + repr(error) + repr(error.args)


def spoiled(value: Any, spoof: str) -> Iterator[Any]:
    """The value with the spoof in each one place in turn: as a key, in place of a value, beside an item."""
    yield spoof
    if isinstance(value, dict):
        yield {**value, spoof: 1}
        yield {spoof: 1, **value}
        for key, item in value.items():
            yield {(spoof if name == key else name): held for name, held in value.items()}
            for other in spoiled(item, spoof):
                yield {**value, key: other}
    if isinstance(value, list):
        yield [*value, spoof]
        for place, item in enumerate(value):
            for other in spoiled(item, spoof):
                yield [*value[:place], other, *value[place + 1 :]]


PICTURE = {"id": "1", "url": "https://cdn.example/a.png", "mediaType": "image/png", "byteSize": 5}
LINE = {"messageId": "1", "actorId": "2", "content": "x", "atMs": 1}
FULL_EVENT = json.loads(EVENT_TEXT) | {"attachments": [PICTURE], "context": [LINE]}
SELF_TOOL = json.loads(EVENT_TEXT) | {
    "kind": "voice",
    "voice": {"action": "self_tool", "tool": "get_self_state", "arguments": {"a": [{}]}},
}
RESULT = {"state": "settled", "captainSessionId": "s", "turnId": "t", "response": "r"}
READ: list[tuple[str, Callable[[str], Any], Any]] = [
    ("event", parse_event, FULL_EVENT),
    ("handoff", parse_event, handoff()),
    ("self tool", parse_event, SELF_TOOL),
    ("result", parse_result, {"state": "reply", "text": "x"}),
    ("voice result", parse_result, {"state": "voice", "result": RESULT}),
    ("envelope", parse_envelope, json.loads(Exchange().body())),
    ("turn request", parse_turn_request, handoff()["voice"]["request"]),
    ("turn result", parse_turn_result, RESULT),
    ("key set", load_verify_keys, json.loads(VERIFY_KEYS.json())),
]


@pytest.mark.seed("S28", "S29")
@pytest.mark.parametrize(("parse", "value"), [r[1:] for r in READ], ids=[r[0] for r in READ])
def test_an_error_of_reading_tells_the_rule_and_never_what_was_read(
    parse: Callable[[str], Any], value: Any
) -> None:
    refused, showing = 0, []
    for spoof in SPOOFS:
        for other in spoiled(value, spoof):
            for text in (json.dumps(other), json.dumps(other)[:-1], json.dumps(other) + spoof):
                try:
                    parse(text)
                except ProtocolError as error:
                    refused += 1
                    if MARKER in shown(error):
                        showing.append((text, str(error)))
    assert refused > 50
    assert showing == []


def test_an_error_still_tells_where_the_rule_was_broken() -> None:
    event = json.loads(EVENT_TEXT) | {"context": [LINE | {"atMs": "x"}]}
    with pytest.raises(ProtocolError, match=r"\$\.context\[0\]\.atMs"):
        parse_event(json.dumps(event))


@pytest.mark.seed("S28", "S29")
def test_no_other_error_holds_what_it_was_about() -> None:
    where: Any = {"tenant_id": TENANT, "installation_id": INSTALLATION, "now_ms": NOW_MS}
    event = parse_event(EVENT_TEXT)
    with prepare_discord_ingress(event, BODY_PUBLIC_KEY) as client:
        sealed = client.seal(MARKER)
        calls: list[Callable[[], Any]] = [
            lambda: js_json.parse(MARKER),
            lambda: js_json.parse(f'["{MARKER}'),
            lambda: js_json.stringify({MARKER: {MARKER}}),
            lambda: base64url.decode(MARKER + "="),
            lambda: open_here(Exchange(plaintext=MARKER.encode() * 4).body()),
            lambda: open_here(MARKER),
            lambda: sealed.open_response(MARKER),
            lambda: client.seal(MARKER * 1_000),
            lambda: prepare_discord_ingress(event, MARKER),
            lambda: sign_permit(FLEET_KEYS[0], digest=MARKER, **where),
            lambda: verify_host_credential(MARKER, VERIFY_KEYS, now_ms=NOW_MS),
            lambda: P256PrivateKey.from_scalar(MARKER.encode()),
            lambda: Ed25519PrivateKey.from_seed(MARKER.encode()),
            lambda: AeadKey(MARKER.encode()),
        ]
        for call in calls:
            with pytest.raises(ProtocolError) as caught:
                call()
            assert MARKER not in repr(caught.value) + str(caught.value) + repr(caught.value.args)


@pytest.mark.seed("S28", "S29")
def test_no_repr_shows_a_key_a_permit_or_anyones_words() -> None:
    event = parse_event(EVENT_TEXT.replace("hello there", MARKER))
    key, signer = P256PrivateKey.generate(), FLEET_KEYS[0]
    with prepare_discord_ingress(event, BODY_PUBLIC_KEY) as client:
        permit = Exchange().permit()
        sealed = client.seal(permit)
        opened = open_here(Exchange().body())
        things = [
            event,
            turn_request_for(event),
            turn_request_for(event).trigger,
            Reply(MARKER),
            VoiceReply(VoiceToolAnswer(text=MARKER, is_error=False)),
            client,
            sealed,
            sealed.envelope,
            opened,
            key,
            signer,
            AeadKey(MARKER.encode().ljust(32)),
            VERIFY_KEYS,
        ]
        secrets = [
            MARKER,
            permit,
            key.scalar().hex(),
            repr(key.scalar()),
            signer.seed().hex(),
            repr(signer.seed()),
            base64url.encode(signer.seed()),
            sealed.envelope.sealed,
        ]
        for thing in things:
            text = f"{thing!r} {thing} {[thing]}"
            assert [secret for secret in secrets if secret in text] == []

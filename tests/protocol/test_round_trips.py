"""What is written reads as the same value, and is its own canonical text: over generated values of every shape."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from clankie.protocol import js_json
from clankie.protocol.channel_turn import (
    parse_turn_request,
    parse_turn_result,
    turn_request_json,
    turn_result_json,
)
from clankie.protocol.discord_ingress import (
    envelope_json,
    event_digest,
    event_json,
    parse_envelope,
    parse_event,
    parse_result,
    request_digest,
    result_json,
)
from clankie.protocol.discord_ingress_crypto import prepare_discord_ingress
from clankie.protocol.fleet_tokens import sign_permit
from clankie.protocol.wire_model import write, write_exactly
from protocol import strategies as given_
from protocol.vectors import BODY_PUBLIC_KEY, FLEET_KEYS, open_here

SHAPES: list[Any] = [
    pytest.param(given_.events(), parse_event, event_json, id="event"),
    pytest.param(given_.results, parse_result, result_json, id="result"),
    pytest.param(given_.envelopes, parse_envelope, envelope_json, id="envelope"),
    pytest.param(given_.turn_requests(), parse_turn_request, turn_request_json, id="turn request"),
    pytest.param(given_.turn_results, parse_turn_result, turn_result_json, id="turn result"),
]
QUICKLY = settings(
    max_examples=150,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


@pytest.mark.seed("S8", "S33", "S56", "S63")
@pytest.mark.parametrize(("values", "parse", "write_"), SHAPES)
@QUICKLY
@given(data=st.data())
def test_what_is_written_reads_as_the_same_value(
    values: st.SearchStrategy[Any],
    parse: Callable[[str | bytes], Any],
    write_: Callable[[Any], bytes],
    data: st.DataObject,
) -> None:
    text = data.draw(given_.spellings(values))
    value = parse(text)
    canonical = write_(value)
    assert parse(canonical) == value
    assert write_(parse(canonical)) == canonical
    assert write_exactly(value) == canonical


@QUICKLY
@given(st.one_of(given_.spellings(given_.results), given_.spellings(given_.envelopes)))
def test_the_quick_writer_writes_what_the_exact_one_does(text: str) -> None:
    value = parse_result(text) if '"state"' in text else parse_envelope(text)
    assert write(value) == write_exactly(value)


@pytest.mark.seed("S11")
@QUICKLY
@given(given_.spellings(given_.events()))
def test_the_request_digest_is_over_the_array_as_javascript_writes_it(text: str) -> None:
    event = parse_event(text)
    array = ["clankie-discord-ingress-v1", js_json.parse(event_json(event)), "key", "nonce"]
    expected = b'["clankie-discord-ingress-v1",' + event_json(event) + b',"key","nonce"]'
    assert js_json.stringify(array).encode("utf-8") == expected
    assert request_digest(event, "key", "nonce") != event_digest(event)
    assert len(request_digest(event, "key", "nonce")) == 43


@pytest.mark.seed("S7", "S10", "S13", "S15", "S18", "S21", "S61")
@settings(parent=QUICKLY, max_examples=100)
@given(given_.spellings(given_.events()), given_.spellings(given_.results))
def test_what_a_connection_seals_a_body_opens_and_what_it_answers_comes_back(
    text: str, answer: str
) -> None:
    event, result = parse_event(text), parse_result(answer)
    where: Any = {"tenant_id": event.tenant_id, "installation_id": event.installation_id}
    now_ms = event.event_at_ms
    with prepare_discord_ingress(event, BODY_PUBLIC_KEY) as client:
        permit = sign_permit(FLEET_KEYS[1], **where, digest=client.digest, now_ms=now_ms)
        sealed = client.seal(permit)
        opened = open_here(envelope_json(sealed.envelope), **where, now_ms=now_ms)
        assert opened.event == event
        assert opened.event_digest == event_digest(event)
        assert result_json(sealed.open_response(opened.seal_response(result))) == result_json(
            result
        )


@pytest.mark.seed("S56")
@QUICKLY
@given(given_.records, st.booleans())
def test_arguments_keep_all_that_json_can_say_but_proto_at_their_own_top(
    record: dict[str, Any], escaped: bool
) -> None:
    event = json.loads(
        '{"schemaVersion":1,"tenantId":"tn_abcdefghij234567abcd","installationId":"AbCdEfGhIjKlMnOpQrSt-_",'
        '"deliveryId":"d","eventAtMs":1,"expiresAtMs":2,"guildId":"1","channelId":"2","messageId":"3",'
        '"actorId":"4","owner":false,"kind":"voice","content":"x"}'
    )
    event["voice"] = {"action": "self_tool", "tool": "get_self_state", "arguments": record}
    written = js_json.parse(event_json(parse_event(json.dumps(event, ensure_ascii=escaped))))
    expected = js_json.parse(json.dumps(record))
    expected.pop("__proto__", None)
    assert js_json.stringify(written["voice"]["arguments"]) == js_json.stringify(expected)

"""The quick reader and the exact one give one answer, on texts that are right and on texts that are nearly so."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from clankie.protocol.channel_turn import _TURN_REQUEST, TURN_RESULT
from clankie.protocol.discord_ingress import _ENVELOPE, _EVENT, _RESULT
from clankie.protocol.errors import ProtocolError
from clankie.protocol.fleet_tokens import _HEADER, _KEY_SET, _PERMIT
from clankie.protocol.wire_model import Reader, write_exactly
from protocol import strategies as given_
from protocol.forge import Exchange

READERS: list[Any] = [
    pytest.param(_EVENT, given_.events(("mention", "dm", "message")), id="event"),
    pytest.param(_RESULT, given_.results, id="result"),
    pytest.param(_ENVELOPE, given_.envelopes, id="envelope"),
    pytest.param(_TURN_REQUEST, given_.turn_requests(), id="turn request"),
    pytest.param(TURN_RESULT, given_.turn_results, id="turn result"),
    pytest.param(_HEADER, st.just(Exchange().header), id="permit header"),
    pytest.param(_PERMIT, st.just(Exchange().claims | {"dig": "A" * 43}), id="permit claims"),
    pytest.param(_KEY_SET, st.just({"keys": [{"publicKeyPem": "x"}]}), id="key set"),
]


def answer(read: Any, text: str | bytes) -> bytes | None:
    """The canonical text of what was read; None for a refusal."""
    try:
        return write_exactly(read(text))
    except ProtocolError:
        return None


@pytest.mark.parametrize(("reader", "values"), READERS)
@settings(
    max_examples=400,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(data=st.data())
def test_both_readers_take_the_same_texts_with_the_same_value(
    reader: Reader[Any], values: st.SearchStrategy[Any], data: st.DataObject
) -> None:
    text = data.draw(given_.near_misses(values) | given_.spellings(values))
    assert answer(reader.read, text) == answer(reader.read_exactly, text)
    as_bytes = text.encode("utf-8", "surrogatepass")
    assert answer(reader.read, as_bytes) == answer(reader.read_exactly, as_bytes)


TWICE = [
    ('{"state":"pending","state":"silent"}', b'{"state":"silent"}'),
    ('{"state":"reply","state":"silent","text":"x"}', None),
    ('{"state":"silent","text":"x","state":"reply"}', b'{"state":"reply","text":"x"}'),
    ('{"text":5,"state":"reply","text":"x"}', b'{"state":"reply","text":"x"}'),
    ('{"state":5,"state":"pending"}', b'{"state":"pending"}'),
    ('{"state":"pending","__proto__":[1e999,"\\ud800"]}', b'{"state":"pending"}'),
    (
        '{"state":"voice","result":5,"result":{"text":"","isError":false}}',
        b'{"state":"voice","result":{"text":"","isError":false}}',
    ),
    ('{"state":"voice","result":{"text":"","isError":false,"isError":0}}', None),
    ('{"state":"voice","result":[]}', None),
    (
        '{"state":"voice","result":{"__proto__":1,"text":"","isError":true}}',
        b'{"state":"voice","result":{"text":"","isError":true}}',
    ),
    ('{"state":"voice","result":{"isError":true,"instructions":"","briefing":""}}', None),
    (
        '{"state":"voice","result":{"state":"failed","state":"failed","code":"c"}}',
        b'{"state":"voice","result":{"state":"failed","code":"c"}}',
    ),
]


@pytest.mark.parametrize(("text", "expected"), TWICE)
def test_a_repeated_key_counts_by_its_last_value_for_both_readers(
    text: str, expected: bytes | None
) -> None:
    assert answer(_RESULT.read, text) == expected
    assert answer(_RESULT.read_exactly, text) == expected

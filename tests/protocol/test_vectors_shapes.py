"""Every recorded event, result, envelope and number: taken or refused, and written, as the other side does."""

import struct
from collections.abc import Callable
from typing import Any

import pytest

from clankie.protocol import js_json
from clankie.protocol.discord_ingress import (
    _ENVELOPE,
    _EVENT,
    _RESULT,
    digest_of,
    envelope_json,
    event_digest,
    event_json,
    parse_envelope,
    parse_event,
    parse_result,
    result_json,
)
from clankie.protocol.errors import ProtocolError
from protocol.vectors import rows

Parse = Callable[[str | bytes], Any]
Write = Callable[[Any], bytes]

SHAPES = [
    pytest.param("events", 1298, parse_event, event_json, id="events"),
    pytest.param("events", 1298, _EVENT.read_exactly, event_json, id="events read exactly"),
    pytest.param("results", 52, parse_result, result_json, id="results"),
    pytest.param("results", 52, _RESULT.read_exactly, result_json, id="results read exactly"),
    pytest.param("envelopes", 19, parse_envelope, envelope_json, id="envelopes"),
    pytest.param("envelopes", 19, _ENVELOPE.read_exactly, envelope_json, id="envelopes exactly"),
]


@pytest.mark.seed("S8", "S11", "S33", "S56", "S58", "S63")
@pytest.mark.parametrize("as_bytes", [False, True], ids=["text", "bytes"])
@pytest.mark.parametrize(("name", "count", "parse", "write"), SHAPES)
def test_every_recorded_shape_is_taken_or_refused_and_written_as_recorded(
    name: str, count: int, parse: Parse, write: Write, as_bytes: bool
) -> None:
    recorded = rows(name)
    wrong = []
    for row in recorded:
        text = row["input"].encode("utf-8") if as_bytes else row["input"]
        try:
            canonical = write(parse(text))
        except ProtocolError:
            if row["accept"]:
                wrong.append((row["id"], "refused"))
            continue
        if not row["accept"]:
            wrong.append((row["id"], "taken"))
        elif (canonical.decode("utf-8"), digest_of(canonical)) != (row["canonical"], row["digest"]):
            wrong.append((row["id"], "written otherwise"))
    assert wrong == []
    assert len(recorded) == count
    assert 0 < sum(row["accept"] for row in recorded) < count


@pytest.mark.parametrize(("name", "count", "parse", "write"), SHAPES)
def test_what_was_written_reads_as_the_same_value(
    name: str, count: int, parse: Parse, write: Write
) -> None:
    taken = [row for row in rows(name) if row["accept"]]
    assert [
        row["id"]
        for row in taken
        if parse(row["canonical"]) != parse(row["input"])
        or write(parse(row["canonical"])).decode("utf-8") != row["canonical"]
    ] == []


@pytest.mark.seed("S11")
def test_the_event_digest_is_the_digest_of_the_canonical_text() -> None:
    taken = [row for row in rows("events") if row["accept"]]
    assert [r["id"] for r in taken if event_digest(parse_event(r["input"])) != r["digest"]] == []


def test_every_recorded_double_is_written_as_recorded() -> None:
    recorded = rows("numbers")
    doubles = [struct.unpack(">d", bytes.fromhex(row["bits"]))[0] for row in recorded]
    assert [
        row["bits"]
        for row, number in zip(recorded, doubles, strict=True)
        if js_json.stringify(number) != row["text"] or js_json.number_text(number) != row["text"]
    ] == []
    assert len(recorded) == 1761


def test_every_recorded_number_reads_as_the_double_it_was() -> None:
    finite = [row for row in rows("numbers") if row["text"] != "null"]
    assert [
        row["bits"]
        for row in finite
        # -0 is written 0: it alone does not come back.
        if row["bits"] != "8000000000000000"
        and struct.pack(">d", js_json.parse(row["text"])).hex() != row["bits"]
    ] == []

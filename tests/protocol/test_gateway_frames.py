"""The tunnel's frames: strict shapes, one spelling of bytes, and no header that could begin another."""

import base64
import itertools
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clankie.protocol import base64_standard
from clankie.protocol.errors import InvalidValue, NotCanonical, ProtocolError
from clankie.protocol.gateway_frames import (
    MAX_CHUNK_BYTES,
    MAX_FRAME_BYTES,
    MAX_REQUEST_BODY_BYTES,
    REQUEST_HEADERS,
    CancelFrame,
    RequestFrame,
    ResponseChunkFrame,
    ResponseEndFrame,
    ResponseStartFrame,
    cancel_frame,
    carried,
    frame_text,
    parse_frame,
    request_frame,
    response_frames,
)

ID = "abcdefghijklmnop"
REQUEST: dict[str, Any] = {
    "schemaVersion": 1,
    "kind": "request",
    "requestId": ID,
    "target": "control",
    "method": "POST",
    "path": "/v1/discord/ingress",
    "headers": [{"name": "prefer", "value": "wait=25"}],
    "bodyBase64": "e30=",
}


def read(**changes: Any) -> Any:
    frame = REQUEST | changes
    return parse_frame(json.dumps({k: v for k, v in frame.items() if v is not None}))


def test_a_request_is_read_as_written() -> None:
    frame = read()
    assert isinstance(frame, RequestFrame)
    assert (frame.request_id, frame.method, frame.path) == (ID, "POST", "/v1/discord/ingress")
    assert frame.body() == b"{}"
    assert json.loads(frame_text(frame)) == REQUEST


def test_a_request_may_have_no_body() -> None:
    frame = read(bodyBase64=None)
    assert frame.body() == b""
    assert "bodyBase64" not in frame_text(request_frame(ID, "POST", "/", [], b""))


@pytest.mark.parametrize(
    "changes",
    [
        {"schemaVersion": 2},
        {"schemaVersion": "1"},
        {"schemaVersion": None},
        {"kind": "Request"},
        {"kind": None},
        {"requestId": "a" * 15},
        {"requestId": "a" * 129},
        {"requestId": "a" * 16 + "."},
        {"requestId": "a" * 16 + "\n"},
        {"requestId": None},
        {"target": "data"},
        {"target": None},
        {"method": "post"},
        {"method": "PO ST"},
        {"path": "v1"},
        {"path": "/a b"},
        {"path": "/a\r\n"},
        {"headers": None},
        {"headers": [{"name": "a", "value": "b"}] * 9},
        {"headers": [{"name": "a", "value": "b", "x": 1}]},
        {"headers": [{"name": "", "value": "b"}]},
        {"headers": [{"name": "a\n", "value": "b"}]},
        {"headers": [{"name": "a", "value": "b\nc: d"}]},
        {"headers": [{"name": "a", "value": "b\x00"}]},
        {"headers": [{"name": "a", "value": "b" * 8_193}]},
        {"bodyBase64": 1},
        {"x": 1},
    ],
)
def test_what_is_not_of_the_shape_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(ProtocolError):
        read(**changes)


def test_null_is_not_absence() -> None:
    with pytest.raises(InvalidValue):
        parse_frame(json.dumps(REQUEST | {"bodyBase64": None}))


@pytest.mark.parametrize(
    "text", ["e30", "e30=\n", "e3 0=", "e31=", "_-8=", "====", "e===", "e30=="]
)
def test_a_body_has_one_spelling(text: str) -> None:
    with pytest.raises(NotCanonical):
        read(bodyBase64=text).body()


def test_every_short_text_decodes_to_the_bytes_that_encode_to_it_or_not_at_all() -> None:
    letters = "AQgw/+9=-_ \n"
    for text in map("".join, itertools.product(letters, repeat=4)):
        try:
            plain = base64.b64decode(text, validate=True)
            expected = plain if base64.b64encode(plain).decode() == text else None
        except ValueError:
            expected = None
        try:
            assert base64_standard.decode(text) == expected
        except NotCanonical:
            assert expected is None


@given(st.binary())
def test_bytes_come_back_from_their_spelling(data: bytes) -> None:
    assert base64_standard.decode(base64_standard.encode(data)) == data


def test_what_is_no_text_is_not_base64() -> None:
    for value in (b"e30=", None, 1):
        with pytest.raises(NotCanonical):
            base64_standard.decode(value)  # type: ignore[arg-type]


def test_the_largest_body_fits_a_frame_and_a_larger_one_is_refused_by_both_ends() -> None:
    largest = bytes(MAX_REQUEST_BODY_BYTES)
    text = frame_text(request_frame(ID, "POST", "/", [], largest))
    assert len(text) < MAX_FRAME_BYTES
    frame = parse_frame(text)
    assert isinstance(frame, RequestFrame)
    assert frame.body() == largest
    with pytest.raises(InvalidValue):
        request_frame(ID, "POST", "/", [], largest + b"x")
    with pytest.raises(InvalidValue):
        read(bodyBase64=base64_standard.encode(largest + b"x")).body()


@pytest.mark.parametrize("size", [0, 1, MAX_CHUNK_BYTES, MAX_CHUNK_BYTES + 1, 3 * MAX_CHUNK_BYTES])
def test_an_answer_is_a_start_then_its_body_in_order_then_an_end(size: int) -> None:
    body = bytes(range(251)) * (size // 251 + 1)
    body = body[:size]
    frames = [
        parse_frame(frame_text(frame))
        for frame in response_frames(ID, 200, [("cache-control", "no-store")], body)
    ]
    start, *chunks, end = frames
    assert isinstance(start, ResponseStartFrame)
    assert (start.status, start.headers[0].value) == (200, "no-store")
    assert isinstance(end, ResponseEndFrame)
    read_back = [chunk for chunk in chunks if isinstance(chunk, ResponseChunkFrame)]
    assert len(read_back) == len(chunks)
    assert [chunk.sequence for chunk in read_back] == list(range(len(chunks)))
    assert all(len(chunk.body()) <= MAX_CHUNK_BYTES for chunk in read_back)
    assert b"".join(chunk.body() for chunk in read_back) == body


@pytest.mark.parametrize("status", [100, 199, 600, 2**53, 200.5, "200", True])
def test_an_answers_status_is_a_final_one(status: Any) -> None:
    frame = {"schemaVersion": 1, "kind": "response_start", "requestId": ID, "headers": []}
    with pytest.raises(InvalidValue):
        parse_frame(json.dumps(frame | {"status": status}))


def test_numbers_are_read_as_javascript_reads_them() -> None:
    frame = parse_frame(
        f'{{"schemaVersion":1.0,"kind":"response_chunk","requestId":"{ID}","sequence":2e0,"bodyBase64":""}}'
    )
    assert isinstance(frame, ResponseChunkFrame)
    assert frame.sequence == 2


def test_the_four_reasons_are_the_only_ones() -> None:
    for reason in ("client_closed", "deadline", "host_disconnected", "protocol_error"):
        frame = parse_frame(frame_text(cancel_frame(ID, reason)))
        assert isinstance(frame, CancelFrame)
    with pytest.raises(InvalidValue):
        parse_frame(f'{{"schemaVersion":1,"kind":"cancel","requestId":"{ID}","reason":"x"}}')


def test_only_listed_headers_are_carried_and_repeated_ones_are_joined() -> None:
    given_headers = [("Prefer", "a"), ("X-Y", "z"), ("PREFER", "b"), ("Accept", "*/*")]
    assert carried(given_headers, REQUEST_HEADERS) == {"prefer": "a, b", "accept": "*/*"}


@pytest.mark.parametrize("value", ["a\nb", "a\rb", "\x00", "\x7f", "→", "x" * 8_193])
def test_a_header_that_no_frame_can_hold_is_refused_when_it_would_be_carried(value: str) -> None:
    with pytest.raises(InvalidValue):
        carried([("prefer", value)], REQUEST_HEADERS)
    assert carried([("x-other", value)], REQUEST_HEADERS) == {}


def test_no_repr_shows_what_is_carried() -> None:
    assert "e30" not in repr(read())
    assert "wait" not in repr(read())


@given(st.text() | st.binary())
def test_whatever_comes_is_a_frame_or_an_error_of_the_contract(text: Any) -> None:
    try:
        parse_frame(text)
    except ProtocolError:
        return

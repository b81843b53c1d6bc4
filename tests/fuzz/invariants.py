"""What must hold for any bytes: accept canonically, or raise the documented error.

Each target takes bytes and returns; a broken invariant is an AssertionError, any other stray exception a finding of
its own. Must not know atheris: `harness.py` brings it, and the tests call the targets as they are.
"""

from collections.abc import Callable
from typing import Any

from clankie.protocol import js_json
from clankie.protocol.channel_turn import _TURN_REQUEST, TURN_RESULT
from clankie.protocol.discord_ingress import (
    _ENVELOPE,
    _EVENT,
    _RESULT,
    Reply,
    event_digest,
    event_json,
    parse_event,
)
from clankie.protocol.errors import ProtocolError, Unauthorized
from clankie.protocol.fleet_tokens import _HEADER, _KEY_SET, _PERMIT
from clankie.protocol.wire_model import write, write_exactly
from protocol.forge import Exchange, digest_for, token
from protocol.vectors import FLEET_KEYS, open_here

READERS = (_EVENT, _RESULT, _ENVELOPE, _TURN_REQUEST, TURN_RESULT, _HEADER, _PERMIT, _KEY_SET)


def check(holds: bool, invariant: str) -> None:
    """Not an `assert`, which an optimised run would not see."""
    if not holds:
        raise AssertionError(invariant)


def read_json(data: bytes) -> None:
    """`js_json.parse`: malformed, or a text that is written the same for ever."""
    for source in (data, data.decode("utf-8", "replace"), data.decode("latin-1")):
        try:
            value = js_json.parse(source)
        except ProtocolError:
            continue
        text = js_json.stringify(value)
        check(js_json.stringify(js_json.parse(text)) == text, "the written text is a fixed point")
        check(text == js_json.stringify(js_json.parse(text.encode("utf-8"))), "bytes read as text")


def _read(read: Callable[[bytes], Any], data: bytes) -> Any:
    try:
        return read(data)
    except ProtocolError:
        return None


def read_shape(data: bytes) -> None:
    """Every shape, chosen by the first byte: both readers agree, and both writers."""
    if not data:
        return
    reader, text = READERS[data[0] % len(READERS)], data[1:]
    exact = _read(reader.read_exactly, text)
    # `arguments` holds any JSON: `parse_event` reads it the exact way alone.
    if reader is not _EVENT or exact is None or b'"voice"' not in text:
        quick = _read(reader.read, text)
        check(quick == exact, "both readers give one value")
    if exact is None:
        return
    canonical = write_exactly(exact)
    # By text: an Infinity inside `arguments` is written null, as JavaScript writes it.
    again = write_exactly(reader.read_exactly(canonical))
    check(again == canonical, "what is written is a fixed point")
    if reader is _EVENT:
        event = parse_event(text)
        check(event_json(event) == canonical, "an event has one text")
        check(event_json(parse_event(canonical)) == canonical, "an event reads as itself")
    else:
        check(write(exact) == canonical, "both writers give one text")


def open_body(data: bytes) -> None:
    """`open_discord_ingress`: the first byte chooses which part of an honest exchange the rest replaces."""
    if not data:
        return
    mode, rest = data[0] % len(_MODES), data[1:]
    body = _MODES[mode](rest)
    try:
        opened = open_here(body)
    except Unauthorized as error:
        check(str(error) == "unauthorized", "every refusal reads alike")
        return
    text = event_json(opened.event)
    check(event_json(parse_event(text)) == text, "an opened event is canonical")
    check(opened.event_digest == event_digest(opened.event), "the digest is the event's")
    opened.seal_response(Reply("x"))
    opened.destroy()


def _with_claims(claims: bytes) -> bytes:
    return Exchange(envelope={"permit": token(_HEADER_TEXT, claims, FLEET_KEYS[0])}).body()


def _with_header(header: bytes) -> bytes:
    return Exchange(envelope={"permit": token(header, _CLAIMS_TEXT, FLEET_KEYS[0])}).body()


def _with_field(name: str) -> Callable[[bytes], bytes]:
    return lambda value: Exchange(envelope={name: value.decode("latin-1")}).body()


_HEADER_TEXT = js_json.stringify(Exchange().header).encode()
_CLAIMS_TEXT = js_json.stringify({**Exchange().claims, "dig": digest_for(b"x" * 40)}).encode()
_MODES: tuple[Callable[[bytes], bytes], ...] = (
    lambda body: body,
    lambda plaintext: Exchange(plaintext=plaintext).body(),
    _with_claims,
    _with_header,
    _with_field("permit"),
    _with_field("sealed"),
    _with_field("ephemeralPublicKey"),
    _with_field("nonce"),
)

TARGETS: dict[str, Callable[[bytes], None]] = {
    "read_json": read_json,
    "read_shape": read_shape,
    "open_body": open_body,
}

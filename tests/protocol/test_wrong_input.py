"""Every public function, attacked with what it does not expect: a `ProtocolError` or an answer, never anything else."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from msgspec import UNSET
from msgspec.structs import replace

import clankie.protocol as contract
from clankie.protocol import js_json
from clankie.protocol.channel_turn import Attachment
from clankie.protocol.discord_ingress import (
    ContextMessage,
    DiscordIngressEvent,
    Reply,
    VoiceHandoff,
    VoiceReply,
    VoiceSelfTool,
    event_json,
    parse_event,
    parse_result,
)
from clankie.protocol.discord_turn import (
    ingress_result_for,
    parse_turn_request,
    parse_turn_result,
    turn_request_for,
    turn_request_json,
    turn_result_json,
)
from clankie.protocol.errors import InvalidValue, ProtocolError
from clankie.protocol.fleet_tokens import (
    VerifyKeys,
    sign_host_credential,
    verify_host_credential,
    verify_permit,
)
from protocol.forge import Exchange
from protocol.test_js_json import from_deep_in_the_stack
from protocol.vectors import (
    BODY_KEY,
    BODY_PUBLIC_KEY,
    EVENT_TEXT,
    FLEET_KEYS,
    INSTALLATION,
    NOW_MS,
    TENANT,
    VERIFY_KEYS,
    open_here,
    rows,
)

EVENT = parse_event(EVENT_TEXT)
DEEP = "[" * 513 + "]" * 513


def endless() -> list[Any]:
    value: list[Any] = []
    value.append(value)
    return value


GARBAGE: dict[str, Any] = {
    "None": None,
    "True": True,
    "int": 5,
    "negative": -1,
    "huge int": 10**5_000,
    "NaN": float("nan"),
    "infinity": float("inf"),
    "empty text": "",
    "text": "x",
    "NUL": "\0",
    "half a character": "\ud800",
    "not ASCII": "é\u2028😀",
    "line break": "a\nb",
    "long text": "x" * 200_000,
    "empty JSON": "{}",
    "deep JSON": DEEP,
    "very deep JSON": '{"a":' * 100_000,
    "many digits": "1" * 5_000,
    "bytes": b"\xff\xfe",
    "empty bytes": b"",
    "bytearray": bytearray(b"{}"),
    "memoryview": memoryview(b'{ "a" :1}')[::2],
    "list": [],
    "endless list": endless(),
    "dict": {},
    "tuple": (1, 2),
    "object": object(),
    "type": dict,
    "function": len,
    "UNSET": UNSET,
    "datetime": datetime(2026, 1, 1, tzinfo=UTC),
    "decimal": Decimal(1),
    "event": EVENT,
    "result": Reply("x"),
    "Ed25519 private key": FLEET_KEYS[0],
    "Ed25519 public key": FLEET_KEYS[0].public_key(),
    "P-256 private key": BODY_KEY,
    "verify keys": VERIFY_KEYS,
}
"""`bool` passes where `int` is asked for: to Python it is one."""

PERMIT: dict[str, Any] = {
    "tenant_id": TENANT,
    "installation_id": INSTALLATION,
    "digest": "A" * 43,
    "now_ms": NOW_MS,
}
CALL: dict[str, Any] = {
    "path": "/fleet/v1/body/verify-keys",
    "tenant_id": TENANT,
    "installation_id": INSTALLATION,
    "body": b"{}",
    "now_ms": NOW_MS,
}
CREDENTIAL: dict[str, Any] = {
    "tenant_id": TENANT,
    "account_id": "account",
    "installation_id": INSTALLATION,
    "now_ms": NOW_MS,
}
HEADERS = contract.sign_body_request(FLEET_KEYS[0], **CALL)
TURN = turn_request_for(EVENT)
OPENED = open_here(Exchange().body())
PREPARED = contract.prepare_discord_ingress(EVENT, BODY_PUBLIC_KEY)
SEALED = PREPARED.seal(Exchange().permit())

CALLS: list[tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]] = [
    (js_json.parse, ("{}",), {}),
    (js_json.stringify, ({},), {}),
    (contract.parse_event, (EVENT_TEXT,), {}),
    (contract.event_json, (EVENT,), {}),
    (contract.event_digest, (EVENT,), {}),
    (contract.request_digest, (EVENT, "key", "nonce"), {}),
    (contract.parse_result, ('{"state":"silent"}',), {}),
    (contract.result_json, (Reply("x"),), {}),
    (contract.parse_envelope, (Exchange().body(),), {}),
    (contract.envelope_json, (SEALED.envelope,), {}),
    (contract.prepare_discord_ingress, (EVENT, BODY_PUBLIC_KEY), {}),
    (PREPARED.seal, (Exchange().permit(),), {}),
    (SEALED.open_response, ("A" * 40,), {}),
    (
        contract.open_discord_ingress,
        (Exchange().body(),),
        {
            "tenant_id": TENANT,
            "installation_id": INSTALLATION,
            "private_key": BODY_KEY,
            "verify_keys": VERIFY_KEYS,
            "now_ms": NOW_MS,
        },
    ),
    (OPENED.seal_response, (Reply("x"),), {}),
    (turn_request_for, (EVENT,), {}),
    (turn_request_json, (TURN,), {}),
    (turn_result_json, (parse_turn_result('{"state":"failed","code":"c"}'),), {}),
    (ingress_result_for, (parse_turn_result('{"state":"failed","code":"c"}'),), {}),
    (parse_turn_request, (turn_request_json(TURN),), {}),
    (parse_turn_result, ('{"state":"failed","code":"c"}',), {}),
    (contract.key_id, (FLEET_KEYS[0].public_key(),), {}),
    (contract.sign_permit, (FLEET_KEYS[0],), PERMIT | {"life_s": 60}),
    (contract.load_verify_keys, (VERIFY_KEYS.json(),), {}),
    (contract.host_id, ("account", INSTALLATION), {}),
    (VerifyKeys, ([FLEET_KEYS[0].public_key()],), {}),
    (sign_host_credential, (FLEET_KEYS[0],), CREDENTIAL | {"life_s": 60}),
    (
        verify_host_credential,
        (sign_host_credential(FLEET_KEYS[0], **CREDENTIAL), VERIFY_KEYS),
        {"now_ms": NOW_MS, "expired_for_ms": 0},
    ),
    (
        verify_permit,
        (Exchange().permit(),),
        {
            "tenant_id": TENANT,
            "installation_id": INSTALLATION,
            "verify_keys": VERIFY_KEYS,
            "now_ms": NOW_MS,
        },
    ),
    (contract.sign_body_request, (FLEET_KEYS[0],), CALL),
    (
        contract.verify_body_request,
        (FLEET_KEYS[0].public_key(),),
        CALL | {"headers": HEADERS},
    ),
]


def spoiled() -> Iterator[tuple[str, Callable[[], Any]]]:
    """Every call with every argument in turn replaced by every piece of garbage."""

    def bound(
        call: Callable[..., Any], args: tuple[Any, ...], named: Mapping[str, Any]
    ) -> Callable[[], Any]:
        return lambda: call(*args, **named)

    for call, args, named in CALLS:
        for what, garbage in GARBAGE.items():
            for place in range(len(args)):
                changed = (*args[:place], garbage, *args[place + 1 :])
                yield f"{call.__name__} {place} {what}", bound(call, changed, named)
            for name in named:
                yield f"{call.__name__} {name} {what}", bound(call, args, named | {name: garbage})


@pytest.mark.parametrize(
    ("call", "args", "named"), CALLS, ids=[call.__name__ for call, _, _ in CALLS]
)
def test_every_attacked_call_works_before_it_is_attacked(
    call: Callable[..., Any], args: tuple[Any, ...], named: dict[str, Any]
) -> None:
    if call == SEALED.open_response:  # garbage from the start: what it opens is tested elsewhere
        with pytest.raises(ProtocolError):
            call(*args, **named)
    else:
        call(*args, **named)


@pytest.mark.seed("S7", "S28")
def test_any_argument_of_any_type_ends_in_an_error_of_the_contract_or_an_answer() -> None:
    stray = []
    for what, call in spoiled():
        try:
            call()
        except ProtocolError:
            continue
        except Exception as error:  # noqa: BLE001  # finding any other is the test
            stray.append((what, type(error).__name__))
    assert stray == []


HEADER_NAMES = sorted(HEADERS)


@pytest.mark.parametrize("name", HEADER_NAMES)
def test_any_header_of_any_type_ends_in_an_error_of_the_contract(name: str) -> None:
    for garbage in GARBAGE.values():
        with pytest.raises(ProtocolError):
            contract.verify_body_request(
                FLEET_KEYS[0].public_key(), **CALL, headers=HEADERS | {name: garbage}
            )


@pytest.mark.parametrize("field", DiscordIngressEvent.__struct_fields__)
def test_an_event_made_in_python_of_wrong_types_is_refused_or_is_what_it_was(field: str) -> None:
    kind = {"kind": "voice"} if field == "voice" else {}
    for garbage in GARBAGE.values():
        try:
            event = replace(EVENT, **(kind | {field: garbage}))
            text = event_json(event)
        except InvalidValue:
            continue
        with suppress(InvalidValue):
            turn_request_for(event)
        try:
            contract.prepare_discord_ingress(event, BODY_PUBLIC_KEY)
        except ProtocolError:
            continue
        # What was sealed is an event of the contract, and the one that was made; UNSET became the default.
        assert event_json(parse_event(text)) == text or garbage is UNSET


@pytest.mark.parametrize("what", GARBAGE)
def test_models_made_in_python_of_wrong_types_are_refused_or_made(what: str) -> None:
    garbage = GARBAGE[what]
    makers: list[Callable[[], Any]] = [
        lambda: Reply(garbage),
        lambda: VoiceReply(garbage),
        lambda: Attachment(id="x", url=garbage, media_type="image/png"),
        lambda: Attachment(id="x", url="data:,", media_type="image/png", filename=garbage),
        lambda: ContextMessage(message_id="1", actor_id="1", content=garbage, at_ms=1),
        lambda: replace(TURN, context_visual=garbage),
        lambda: replace(EVENT, kind="voice", voice=VoiceHandoff(request=garbage)),
        lambda: event_json(
            replace(
                EVENT,
                kind="voice",
                voice=VoiceSelfTool(tool="get_self_state", arguments={"a": garbage}),
            )
        ),
    ]
    for make in makers:
        with suppress(ProtocolError):
            make()


@pytest.mark.parametrize("garbage", [b"x", datetime(2026, 1, 1, tzinfo=UTC), Decimal(1)], ids=type)
def test_arguments_that_json_cannot_say_are_not_written_as_something_else(garbage: object) -> None:
    tool = VoiceSelfTool(tool="get_self_state", arguments={"a": garbage})
    with pytest.raises(InvalidValue):
        event_json(replace(EVENT, kind="voice", voice=tool))


@pytest.mark.parametrize("frames", [0, 500, 700, 850])
def test_deep_in_the_stack_the_errors_are_the_same(frames: int) -> None:
    row = rows("sealed")[0]
    arguments = '{"a":' * 500 + "1" + "}" * 500
    voice = f'"voice":{{"action":"self_tool","tool":"get_self_state","arguments":{arguments}}}'
    text = EVENT_TEXT.replace('"mention"', f'"voice",{voice}')

    def each() -> None:
        try:
            event_json(parse_event(text))
        except ProtocolError:
            assert frames > 0
        try:
            parse_result('{"state":"voice","result":' + '{"a":' * 500 + "1" + "}" * 501)
        except InvalidValue:
            pass
        except ProtocolError:
            assert frames > 0
        assert parse_event(row["event"]) is not None
        open_here(Exchange().body())

    from_deep_in_the_stack(frames, each)

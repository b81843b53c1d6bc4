"""Generated values of the wire contract: as JSON values, and as the many texts that spell one of them.

Everything here is valid by construction; what is near to valid comes from `near_misses`.
"""

import json
import string
from typing import Any

from hypothesis import strategies as st

INTERESTING = "\x00\x1f\x7f\u0085\u00a0\u200b\u2028\ufeff\ufffd\ud83d\ude00\U0001f600\"\\/<'aB1 "
SAFE = 2**53 - 1
BASE64URL = string.ascii_letters + string.digits + "-_"

texts = (
    st.text(st.characters(codec="ascii"), max_size=12)
    | st.text(st.sampled_from(INTERESTING), max_size=6)
    | st.text(st.characters(exclude_categories=()), max_size=6)
)
"""Any text, lone surrogates and controls included."""
some_text = texts.map(lambda text: "x" + text)
"""Neither blank nor empty."""
doubles = st.floats(allow_nan=False, allow_infinity=False)
numbers = st.integers(-(2**70), 2**70) | st.integers(-10, 10) | doubles
keys = texts | st.sampled_from(
    [
        "__proto__",
        "constructor",
        "0",
        "1",
        "10",
        "01",
        "-1",
        "4294967294",
        "4294967295",
        "arguments",
    ]
)
json_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(keys, inner, max_size=4),
    max_leaves=12,
)
records = st.dictionaries(keys, json_values, max_size=5)
urls = st.builds(
    "{}{}{}{}".format,
    st.sampled_from(["", " ", "\ufeff\n"]),
    st.sampled_from(["https://cdn.example/a.png", "http://[::1]:80/?q=1#f", "data:,x", "x:\ud800"]),
    st.sampled_from(["", "/ü", "%ff", "\ud800"]),
    st.sampled_from(["", "\u2003", "\t "]),
)


def spelled_of(alphabet: str, shortest: int, longest: int) -> st.SearchStrategy[str]:
    return st.text(st.sampled_from(alphabet), min_size=shortest, max_size=longest)


def objects(needed: dict[str, Any], **optional: Any) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries(needed, optional=optional)


snowflakes = spelled_of("0123456789", 1, 20)
attachments = st.lists(
    objects(
        {
            "id": some_text,
            "url": urls,
            "mediaType": st.sampled_from(["image/png", "image/jpeg", "image/gif", "image/webp"]),
        },
        motionUrl=urls,
        filename=some_text,
        byteSize=st.integers(1, 8_388_608),
    ),
    max_size=2,
)
contexts = st.lists(
    objects(
        {
            "messageId": snowflakes,
            "actorId": snowflakes,
            "content": some_text,
            "atMs": st.integers(0, SAFE),
        }
    ),
    max_size=3,
)
iso_times = st.builds(
    "{:%Y-%m-%dT%H:%M}{}Z".format, st.datetimes(), st.sampled_from(["", ":00", ":59.123456789"])
).map(lambda text: text.zfill(len(text) + max(0, 4 - text.index("-"))))


@st.composite
def turn_requests(draw: st.DrawFn, /, **trigger: Any) -> dict[str, Any]:
    """A ChannelTurnRequest; `trigger` fixes fields of its trigger, a value of None leaves one out."""
    identity = draw(
        objects(
            {
                "correlationId": some_text,
                "profileHash": some_text,
                "characterId": some_text,
                "credentialRef": st.just("hosted_discord"),
                "transportKind": st.just("bot"),
                "presenceSessionId": some_text,
            },
            missionId=some_text,
            taskId=some_text,
            workerRunId=some_text,
        )
    )
    fields = draw(
        objects(
            {
                "kind": st.just("voice_event"),
                "id": some_text,
                "channelId": some_text,
                "actorId": some_text,
                "body": some_text,
            },
            guildId=some_text,
            messageId=some_text,
            attachments=attachments,
            attachmentsOmitted=st.integers(1, SAFE),
            unprompted=st.booleans(),
        )
    )
    fields = {k: v for k, v in (fields | trigger).items() if v is not None}
    messages = draw(
        st.lists(
            objects(
                {"id": some_text, "authorId": some_text, "body": texts, "createdAt": iso_times}
            ),
            max_size=2,
        )
    )
    request = {
        "schemaVersion": 1,
        "deliveryId": draw(some_text),
        "identity": identity,
        "trigger": fields,
        "contextMessages": messages,
    }
    if draw(st.booleans()):
        request["room"] = draw(objects({"guildName": some_text}, channelName=some_text))
    shows_picture = draw(st.booleans())
    if messages and shows_picture:
        request["contextVisual"] = {
            "sourceMessageId": messages[0]["id"],
            "attachmentsOmitted": draw(st.integers(1, SAFE)),
        }
    return request


@st.composite
def events(
    draw: st.DrawFn,
    kinds: tuple[str, ...] = ("mention", "dm", "reply", "slash", "voice", "message"),
) -> dict[str, Any]:
    """An event, as a JSON value."""
    kind = draw(st.sampled_from(kinds))
    at_ms = draw(st.integers(0, SAFE - 300_000))
    event: dict[str, Any] = {
        "schemaVersion": 1,
        "tenantId": "tn_" + draw(spelled_of("abyz27", 20, 20)),
        "installationId": draw(spelled_of(BASE64URL, 22, 22)),
        "deliveryId": draw(spelled_of(BASE64URL + ":", 1, 128)),
        "eventAtMs": at_ms,
        "expiresAtMs": at_ms + draw(st.integers(1, 300_000)),
        "channelId": draw(snowflakes),
        "messageId": draw(snowflakes),
        "actorId": draw(snowflakes),
        "owner": draw(st.booleans()),
        "kind": kind,
        "content": draw(some_text),
    }
    if kind != "dm":
        event["guildId"] = draw(snowflakes)
    if draw(st.booleans()):
        event["attachments"] = draw(attachments)
    if kind == "voice":
        event["voice"] = draw(voice_actions(event))
    elif draw(st.booleans()):
        event["context"] = draw(contexts)
    return event


def voice_actions(event: dict[str, Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Any of the three, for that event."""
    return (
        st.fixed_dictionaries(
            {"action": st.just("briefing"), "consentedUserIds": st.lists(snowflakes, max_size=3)}
        )
        | st.fixed_dictionaries(
            {
                "action": st.just("self_tool"),
                "tool": st.sampled_from(["recall_episodes", "get_self_state", "remember_episode"]),
                "arguments": records,
            }
        )
        | st.fixed_dictionaries(
            {
                "action": st.just("handoff"),
                "request": turn_requests(
                    guildId=event["guildId"],
                    channelId=event["channelId"],
                    actorId=event["actorId"],
                ),
            }
        )
    )


turn_results = (
    objects(
        {
            "state": st.just("settled"),
            "captainSessionId": some_text,
            "turnId": some_text,
            "response": some_text,
        },
        deliveryStage=st.sampled_from(["stored", "delivered"]),
        media=objects(
            {"artifactRef": st.just(f"sha256:{'a' * 64}:shares/x.png"), "filename": some_text}
        ),
    )
    | objects(
        {
            "state": st.sampled_from(["silent", "absorbed"]),
            "captainSessionId": some_text,
            "turnId": some_text,
        }
    )
    | objects(
        {
            "state": st.just("waiting_user"),
            "captainSessionId": some_text,
            "turnId": some_text,
            "prompt": some_text,
            "approvalRequired": st.booleans(),
        }
    )
    | objects({"state": st.just("failed"), "code": some_text}, turnId=some_text)
)
results = (
    st.fixed_dictionaries({"state": st.sampled_from(["pending", "silent"])})
    | st.fixed_dictionaries({"state": st.just("reply"), "text": some_text})
    | st.fixed_dictionaries(
        {"state": st.just("failed"), "code": st.sampled_from(["interrupted", "unavailable"])}
    )
    | st.fixed_dictionaries(
        {
            "state": st.just("voice"),
            "result": turn_results
            | st.fixed_dictionaries({"instructions": texts, "briefing": texts})
            | st.fixed_dictionaries({"text": texts, "isError": st.booleans()}),
        }
    )
)
envelopes = st.fixed_dictionaries(
    {
        "version": st.just(1),
        "permit": some_text,
        "ephemeralPublicKey": spelled_of(BASE64URL, 87, 87),
        "nonce": spelled_of(BASE64URL, 22, 22),
        "sealed": spelled_of(BASE64URL, 40, 60),
    }
)


@st.composite
def spellings(draw: st.DrawFn, values: st.SearchStrategy[Any]) -> str:
    """A JSON text of one of the values: keys in any order, white space, escapes or none, integers as doubles."""
    value = draw(values)
    if isinstance(value, dict) and draw(st.booleans()):
        value = dict(draw(st.permutations(list(value.items()))))
    if isinstance(value, dict) and draw(st.booleans()):
        value = {
            key: float(item) if type(item) is int and abs(item) < SAFE else item
            for key, item in value.items()
        }
    return json.dumps(
        value, ensure_ascii=draw(st.booleans()), indent=draw(st.sampled_from([None, 0, 1]))
    )


FRAGMENTS = [
    *'{}[]":,0123456789eE+-. \t\n\r\f\x00\\/u',
    "\\ud83d",
    "\\ude00",
    "\\u0000",
    "\ud800",
    "\ufeff",
    "null",
    "true",
    "NaN",
    "Infinity",
    "-0",
    "1.0",
    "1e3",
    "1e999",
    "9007199254740992",
    "9007199254740991.4",
    '"__proto__":{},',
    '"__proto__":{"a":1},',
    '"state":"reply",',
    '"action":"briefing",',
    '"kind":"dm",',
    '"owner":true,',
    '"attachments":[],',
]


@st.composite
def near_misses(draw: st.DrawFn, values: st.SearchStrategy[Any]) -> str:
    """A spelling with up to four fragments put in or characters taken out, anywhere."""
    text = draw(spellings(values))
    for _ in range(draw(st.integers(1, 4))):
        place = draw(st.integers(0, len(text)))
        cut = draw(st.integers(0, 2))
        text = text[:place] + draw(st.sampled_from(["", *FRAGMENTS])) + text[place + cut :]
    return text

"""Whatever somebody makes of a payload: facts, or the one error, and nothing else."""

import copy
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from clankie.discord.attachments import choose_attachments
from clankie.discord.attention import Wake, WakeTrigger, wake_policy, wakes, wakes_on_edit
from clankie.discord.errors import NotReadable, TriggerRefused
from clankie.discord.event_parts import build_event
from clankie.discord.inbound import InboundMessage
from clankie.discord.interactions import read_interaction
from clankie.discord.reading import merged, read_message, with_target
from clankie.protocol.discord_ingress import event_json, parse_event
from discord_payloads import (
    AROUND,
    BOT,
    OTHER,
    Json,
    command,
    direct,
    forward,
    image,
    mention,
    message,
    reply,
    user,
    voice,
)

POLICY = wake_policy(trigger=WakeTrigger.ANY, names=["Eliza"])
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | st.floats()
    | st.text(st.characters(exclude_categories=()), max_size=8)
    | st.sampled_from(["", "1", BOT, "9" * 20, "9" * 21, "１", f"<@{BOT}>", "> ", "image/png"])  # noqa: RUF001
    | st.sampled_from(
        ["https://a.example/a.png", "2026-01-01T00:00:00Z", "9999-12-31T23:59:59-23:59"]
    ),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["id", "type", "name", "text", "author", "message", "content", "fields"]
            )
            | st.text(max_size=3),
            inner,
            max_size=4,
        )
    ),
    max_leaves=8,
)
FULL = message(
    "hello",
    attachments=[image(), voice()],
    embeds=[
        {
            "author": {"name": "a"},
            "title": "t",
            "fields": [{"name": "n", "value": "v"}],
            "footer": {"text": "f"},
        }
    ],
    sticker_items=[{"id": "1", "name": "wave"}],
    poll={"question": {"text": "q"}, "answers": [{"poll_media": {"text": "a"}}]},
    mentions=[user(OTHER)],
)
MESSAGES = st.sampled_from([FULL, message(), mention(), direct(), reply(), forward()])
OPTIONS: list[Json] = [
    {"name": "what", "type": 3, "value": "x"},
    {"name": "file", "type": 11, "value": "7001"},
    {"name": "more", "type": 2, "options": [{"name": "who", "type": 6, "value": OTHER}]},
]
COMMANDS = st.sampled_from([command(options=OPTIONS), command(dm=True), command()])


def spoiled(payload: Json, draw: Any) -> Json:
    """A copy with a few values, anywhere in it, replaced or taken out."""
    payload = copy.deepcopy(payload)
    for _ in range(draw(st.integers(0, 3))):
        places: list[tuple[Any, Any]] = []
        pending: list[Any] = [payload]
        while pending:
            container = pending.pop()
            items = container.items() if isinstance(container, dict) else enumerate(container)
            for key, value in items:
                places.append((container, key))
                if isinstance(value, dict | list):
                    pending.append(value)
        container, key = places[draw(st.integers(0, len(places) - 1))]
        if isinstance(container, dict) and draw(st.booleans()):
            del container[key]
        else:
            container[key] = draw(VALUES)
        if not payload:
            break
    return payload


def used(found: InboundMessage) -> None:
    """Everything that is done with a message that could be read."""
    choose_attachments(found)
    decision = wakes(found, POLICY)
    wakes_on_edit(found, POLICY, former=found)
    if not isinstance(decision, Wake):
        return
    try:
        event = build_event(
            found,
            decision,
            tenant_id="tn_" + "a" * 20,
            installation_id="i" * 22,
            owner=False,
            context=[found],
        ).event
    except TriggerRefused:
        return
    assert parse_event(event_json(event)) == event


@settings(deadline=None)
@given(MESSAGES, st.data())
def test_a_message_gives_facts_or_is_not_readable(payload: Json, data: st.DataObject) -> None:
    try:
        found = read_message(spoiled(payload, data.draw), AROUND)
    except NotReadable:
        return
    used(found)


@settings(deadline=None)
@given(MESSAGES, MESSAGES, st.data())
def test_an_update_gives_facts_or_is_not_readable(
    former: Json, update: Json, data: st.DataObject
) -> None:
    try:
        found = read_message(merged(former, spoiled(update, data.draw)), AROUND)
    except NotReadable:
        return
    used(found)


@settings(deadline=None)
@given(COMMANDS, st.data())
def test_an_interaction_gives_facts_or_is_not_readable(payload: Json, data: st.DataObject) -> None:
    try:
        found = read_interaction(spoiled(payload, data.draw), AROUND)
    except NotReadable:
        return
    if found.message is not None:
        used(found.message)


@settings(deadline=None)
@given(VALUES)
def test_what_is_no_payload_at_all_is_not_readable(value: Any) -> None:
    for reader in (read_message, read_interaction):
        try:
            reader(value, AROUND)
        except NotReadable:
            continue
        raise AssertionError("read")


@settings(deadline=None)
@given(MESSAGES, st.data())
def test_whatever_was_fetched_as_the_target_the_message_stays(
    payload: Json, data: st.DataObject
) -> None:
    unknown = read_message(
        {key: value for key, value in reply().items() if key != "referenced_message"}, AROUND
    )
    found = with_target(unknown, spoiled(payload, data.draw), AROUND)
    assert (found.id, found.text, found.author) == (unknown.id, unknown.text, unknown.author)

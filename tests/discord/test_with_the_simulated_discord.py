"""What the simulated Discord sends is read as what was done in it."""

import json
from typing import Any

import pytest

from clankie.discord.attention import NotAddressed, Wake, wake_policy, wakes, wakes_on_edit
from clankie.discord.facts import Channel, Surroundings
from clankie.discord.inbound import InboundMessage, ReplyState
from clankie.discord.reading import read_listed, read_message
from clankie.sim import payloads
from clankie.sim.world.entities import (
    ChannelType,
    Message,
    MessageDraft,
    MessageEdit,
    Reference,
    ReferenceKind,
    Upload,
)
from conftest import ManualClock
from sim.world.worlds import Town

PICTURE = Upload("a.png", b"bytes", content_type="image/png")


@pytest.fixture
def town(clock: ManualClock) -> Town:
    return Town(clock)


def around(town: Town) -> Surroundings:
    role = town.world.managed_role(town.guild, town.bot)
    assert role is not None
    return Surroundings(
        bot_user_id=str(town.bot),
        managed_roles={str(town.guild): str(role.id)},
        channels={
            str(each.id): Channel(
                name=each.name or "",
                parent_id=None if each.parent_id is None else str(each.parent_id),
                thread=each.type in {10, 11, 12},
            )
            for each in town.world.tables.channels.values()
        },
    )


def last(town: Town, event: str = "MESSAGE_CREATE") -> Any:
    """The last event of that name, as it goes over the wire."""
    found = [each for each in town.heard if each.event == event]
    return json.loads(json.dumps(found[-1].data))


def heard(town: Town, event: str = "MESSAGE_CREATE") -> InboundMessage:
    return read_message(last(town, event), around(town))


def kind(found: InboundMessage) -> str | None:
    decision = wakes(found, wake_policy())
    return decision.kind if isinstance(decision, Wake) else None


def said(town: Town, text: str, **draft: Any) -> Message:
    return town.say(text, town.member, **draft)


def test_a_message_a_mention_and_one_in_code(town: Town) -> None:
    said(town, "hello")
    assert (heard(town).text, kind(heard(town))) == ("hello", None)
    said(town, f"<@{town.bot}> hello", uploads=(PICTURE,))
    found = heard(town)
    assert (found.text, kind(found)) == ("hello", "mention")
    assert [each.media_type for each in found.attachments] == ["image/png"]
    said(town, f"`<@{town.bot}>`")
    assert kind(heard(town)) is None


def test_the_bots_own_role_is_a_mention(town: Town) -> None:
    role = town.world.managed_role(town.guild, town.bot)
    assert role is not None
    said(town, f"<@&{role.id}> hello")
    assert last(town)["mentions"] == []
    assert kind(heard(town)) == "mention"


def test_an_answer_with_and_without_ping_and_to_what_is_gone(town: Town) -> None:
    ours = town.say("I am here", town.bot)
    assert kind(heard(town)) is None
    reference = Reference(town.general, ours.id)
    said(town, "good", reference=reference)
    assert (kind(heard(town)), heard(town).addressed.reply_pinged) == ("reply", True)
    quiet = payloads.message_event(town.world.tables, said(town, "good", reference=reference))
    quiet["mentions"] = []
    found = read_message(quiet, around(town))
    assert (kind(found), found.addressed.reply_pinged) == ("reply", False)
    answer = said(town, "good", reference=reference)
    town.world.delete_message(town.bot, town.general, ours.id)
    gone = payloads.message_event(town.world.tables, answer)
    assert read_message(gone, around(town)).reply.state is ReplyState.DELETED


def test_a_direct_message_is_one_and_a_listed_one_of_a_server_is_not(town: Town) -> None:
    dm = town.world.open_dm(town.member, town.bot)
    town.world.post_message(town.member, dm.id, MessageDraft("hello"))
    assert kind(heard(town)) == "dm"
    listed = payloads.message(town.world.tables, said(town, "hello"))
    found = read_listed(listed, around(town), guild_id=str(town.guild))
    assert kind(found) is None


def test_a_forward_carries_somebody_elses_words(town: Town) -> None:
    first = town.say(f"<@{town.bot}> said", uploads=(PICTURE,))
    said(town, "", reference=Reference(town.general, first.id, kind=ReferenceKind.FORWARD))
    found = heard(town)
    assert found.forwarded
    assert "author unknown" in found.text
    assert len(found.attachments) == 1
    assert kind(found) is None


def test_a_forum_post_and_its_first_message(town: Town) -> None:
    forum = town.channel(type=ChannelType.FORUM)
    town.world.create_forum_post(
        town.member, forum.id, "A question", MessageDraft(f"<@{town.bot}> why?")
    )
    found = heard(town)
    assert found.starter
    assert found.place.parent_id == str(forum.id)
    assert found.text == "[title of the post: A question]\nwhy?"
    policy = wake_policy(channel_ids=[str(forum.id)])
    assert isinstance(wakes(found, policy), Wake)


def test_an_edit_that_adds_the_mention_wakes_and_the_next_does_not(
    town: Town, clock: ManualClock
) -> None:
    message = said(town, "hello")
    stages = [heard(town)]
    for text in (f"<@{town.bot}> helo", f"<@{town.bot}> hello"):
        clock.advance(1)
        edit = MessageEdit(content=text)
        town.world.edit_message(town.member, town.general, message.id, edit)
        stages.append(heard(town, "MESSAGE_UPDATE"))
    policy = wake_policy()
    assert isinstance(wakes_on_edit(stages[1], policy, former=stages[0]), Wake)
    assert isinstance(wakes_on_edit(stages[2], policy, former=stages[1]), NotAddressed)


def test_a_webhook_a_bot_and_discord_itself_never_wake(town: Town) -> None:
    webhook = town.world.create_webhook(town.owner, town.general, "Hook")
    town.world.execute_webhook(webhook.id, MessageDraft(f"<@{town.bot}>"), username="Owner")
    assert (heard(town).author.kind, kind(heard(town))) == ("webhook", None)
    town.say(f"<@{town.bot}>", town.bot)
    assert (heard(town).from_self, kind(heard(town))) == (True, None)

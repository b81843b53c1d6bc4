"""Commands, and how what they start is answered."""

from typing import Any

import pytest

from clankie.sim import payloads
from clankie.sim.errors import (
    ALREADY_ACKNOWLEDGED,
    EMPTY_MESSAGE,
    INVALID_FORM,
    INVALID_WEBHOOK_TOKEN,
    MISSING_PERMISSIONS,
    UNKNOWN_COMMAND,
    UNKNOWN_INTERACTION,
    UNKNOWN_MESSAGE,
    UNKNOWN_WEBHOOK,
)
from clankie.sim.world.entities import (
    Interaction,
    InteractionState,
    MessageDraft,
    MessageEdit,
    MessageFlag,
    Overwrite,
    OverwriteType,
)
from clankie.sim.world.permissions import Permissions
from conftest import ManualClock
from sim.world.worlds import Town

ASK = {
    "name": "ask",
    "description": "Ask something",
    "options": [
        {"name": "question", "type": 3, "description": "what", "required": True},
        {"name": "whom", "type": 6, "description": "whom"},
        {"name": "times", "type": 4, "description": "how often"},
    ],
}
BUTTONS = ({"type": 1, "components": [{"type": 2, "style": 1, "custom_id": "yes"}]},)
EPHEMERAL = MessageDraft(flags=MessageFlag.EPHEMERAL)


@pytest.fixture
def asked(town: Town) -> Interaction:
    """The owner asked, and nobody answered yet."""
    (command,) = town.world.set_commands(town.application.id, None, [ASK])
    options = [
        {"name": "question", "value": "why?"},
        {"name": "whom", "value": str(town.member)},
    ]
    return town.world.invoke_command(town.owner, town.general, command.id, options)


def answered(town: Town, interaction: Interaction, kind: int, **answer: Any) -> Any:
    return town.world.respond_interaction(interaction.id, interaction.token, kind, **answer)


def test_the_bot_alone_is_told_what_was_asked(town: Town, asked: Interaction) -> None:
    dispatch = town.heard[-1]
    assert (dispatch.event, dispatch.recipients) == ("INTERACTION_CREATE", frozenset({town.bot}))
    data = dispatch.data["data"]
    assert data["options"] == [
        {"name": "question", "type": 3, "value": "why?"},
        {"name": "whom", "type": 6, "value": str(town.member)},
    ]
    assert data["resolved"]["users"][str(town.member)]["username"] == "member"
    assert data["resolved"]["members"][str(town.member)]["permissions"]
    assert "guild_id" not in data
    assert asked.token not in repr(asked)


@pytest.mark.parametrize(
    "options",
    [
        [],
        [{"name": "question", "value": 5}],
        [{"name": "question", "value": "x"}, {"name": "times", "value": "5"}],
        [{"name": "question", "value": "x"}, {"name": "times", "value": True}],
        [{"name": "question", "value": "x"}, {"name": "whom", "value": "owner"}],
        [{"name": "question", "value": "x"}, {"name": "other", "value": "x"}],
    ],
)
def test_options_that_are_not_the_commands_start_nothing(
    town: Town, options: list[dict[str, Any]]
) -> None:
    (command,) = town.world.set_commands(town.application.id, None, [ASK])
    with town.refused(INVALID_FORM):
        town.world.invoke_command(town.owner, town.general, command.id, options)


def test_an_answer_is_a_message_of_the_bot(town: Town, asked: Interaction) -> None:
    town.events()
    message = answered(town, asked, 4, draft=MessageDraft("because"))
    assert town.events() == ["MESSAGE_CREATE"]
    shown = payloads.message(town.world.tables, message)
    assert (shown["type"], shown["author"]["id"]) == (20, str(town.bot))
    assert shown["interaction_metadata"]["user"]["id"] == str(town.owner)
    assert shown["interaction"]["name"] == "ask"
    assert town.world.interaction(asked.id).state is InteractionState.ANSWERED
    assert town.world.original(town.application.id, asked.token) == message
    for kind in (4, 5):
        with town.refused(ALREADY_ACKNOWLEDGED):
            answered(town, asked, kind, draft=MessageDraft("again"))


@pytest.mark.parametrize("seconds", [3.1, 60])
def test_after_three_seconds_nobody_answers(
    town: Town, clock: ManualClock, asked: Interaction, seconds: float
) -> None:
    clock.advance(seconds)
    with town.refused(UNKNOWN_INTERACTION):
        answered(town, asked, 4, draft=MessageDraft("late"))
    with town.refused(UNKNOWN_WEBHOOK):
        town.world.followup(town.application.id, asked.token, MessageDraft("late"))


def test_a_wrong_token_answers_nothing(town: Town, asked: Interaction) -> None:
    with town.refused(UNKNOWN_INTERACTION):
        town.world.respond_interaction(asked.id, "wrong", 4, draft=MessageDraft("x"))
    with town.refused(UNKNOWN_WEBHOOK):
        town.world.followup(town.application.id + 1, asked.token, MessageDraft("x"))


def test_a_promise_is_kept_by_the_first_followup(
    town: Town, clock: ManualClock, asked: Interaction
) -> None:
    town.events()
    promise = answered(town, asked, 5)
    assert promise.flags == MessageFlag.LOADING
    assert town.events() == ["MESSAGE_CREATE"]
    clock.advance(14 * 60)
    kept = town.world.followup(town.application.id, asked.token, MessageDraft("because"))
    assert (kept.id, kept.content, kept.flags) == (promise.id, "because", MessageFlag.NONE)
    assert town.events() == ["MESSAGE_UPDATE"]
    more = town.world.followup(town.application.id, asked.token, MessageDraft("and so on"))
    assert more.id != promise.id
    assert [each.content for each in town.world.history(town.general)] == ["and so on", "because"]


def test_a_promise_is_kept_by_the_first_edit(town: Town, asked: Interaction) -> None:
    promise = answered(town, asked, 5)
    application = town.application.id
    kept = town.world.edit_original(application, asked.token, MessageEdit(content="because"))
    assert (kept.id, kept.content, kept.flags) == (promise.id, "because", MessageFlag.NONE)
    assert town.world.interaction(asked.id).state is InteractionState.ANSWERED
    with town.refused(EMPTY_MESSAGE):
        town.world.edit_original(application, asked.token, MessageEdit(content=""))


def test_after_a_quarter_of_an_hour_the_token_is_worth_nothing(
    town: Town, clock: ManualClock, asked: Interaction
) -> None:
    promise = answered(town, asked, 5)
    clock.advance(15 * 60 + 1)
    application = town.application.id
    with town.refused(INVALID_WEBHOOK_TOKEN) as refusal:
        town.world.followup(application, asked.token, MessageDraft("late"))
    assert refusal.value.status == 401
    with town.refused(INVALID_WEBHOOK_TOKEN):
        town.world.edit_original(application, asked.token, MessageEdit(content="late"))
    assert town.world.message(town.general, promise.id).flags == MessageFlag.LOADING


def test_an_ephemeral_answer_is_for_one(town: Town, asked: Interaction) -> None:
    promise = answered(town, asked, 5, draft=EPHEMERAL)
    kept = town.world.followup(town.application.id, asked.token, MessageDraft("psst"))
    assert (kept.id, kept.seen_by) == (promise.id, town.owner)
    assert kept.flags == MessageFlag.EPHEMERAL
    assert town.world.history(town.general, viewer_id=town.member) == []
    assert town.world.history(town.general, viewer_id=town.owner) == [kept]
    assert all(each.recipients == frozenset({town.owner, town.bot}) for each in town.heard[-2:])


def test_the_answer_can_be_removed(town: Town, asked: Interaction) -> None:
    answered(town, asked, 4, draft=MessageDraft("because"))
    town.events()
    town.world.delete_original(town.application.id, asked.token)
    assert town.events() == ["MESSAGE_DELETE"]
    with town.refused(UNKNOWN_MESSAGE):
        town.world.original(town.application.id, asked.token)


def test_an_answer_needs_no_right_to_send(town: Town, asked: Interaction) -> None:
    rule = Overwrite(town.guild, OverwriteType.ROLE, deny=Permissions.SEND_MESSAGES)
    town.world.set_overwrite(town.owner, town.general, rule)
    with town.refused(MISSING_PERMISSIONS):
        town.say("hello", town.bot)
    answered(town, asked, 4, draft=MessageDraft("because", embeds=({"title": "t"},)))


def test_another_bots_messages_are_not_in_reach_of_a_token(town: Town, asked: Interaction) -> None:
    answered(town, asked, 5)
    others = town.say("hello", town.bot)
    with town.refused(UNKNOWN_MESSAGE):
        town.world.edit_followup(
            town.application.id, asked.token, others.id, MessageEdit(content="x")
        )


def test_a_button_updates_its_message(town: Town) -> None:
    message = town.say("sure?", town.bot, components=BUTTONS)
    pressed = town.world.click(town.member, town.general, message.id, "yes")
    data = town.heard[-1].data
    assert data["data"] == {"custom_id": "yes", "component_type": 2}
    assert data["message"]["id"] == str(message.id)
    answered(town, pressed, 7, edit=MessageEdit(content="sure.", components=()))
    after = town.world.message(town.general, message.id)
    assert (after.content, after.components) == ("sure.", ())
    with town.refused(INVALID_FORM):
        town.world.click(town.member, town.general, message.id, "yes")


def test_a_form_is_opened_and_sent_in(town: Town, asked: Interaction) -> None:
    form = {"custom_id": "form", "title": "Form", "components": []}
    assert answered(town, asked, 9, data=form) is None
    assert town.world.interaction(asked.id).modal == form
    with town.refused(UNKNOWN_INTERACTION):
        town.world.submit_modal(town.member, asked.id, [])
    rows = [{"type": 1, "components": [{"type": 4, "custom_id": "field", "value": "x"}]}]
    sent = town.world.submit_modal(town.owner, asked.id, rows)
    assert town.heard[-1].data["data"] == {"custom_id": "form", "components": rows}
    answered(town, sent, 4, draft=MessageDraft("thanks"))


def test_suggestions_are_given_while_typing(town: Town) -> None:
    (command,) = town.world.set_commands(town.application.id, None, [ASK])
    typed = [{"name": "question", "value": "wh", "focused": True}]
    interaction = town.world.autocomplete(town.owner, town.general, command.id, typed)
    choices = [{"name": "why", "value": "why"}]
    with town.refused(INVALID_FORM):
        answered(town, interaction, 4, draft=MessageDraft("no"))
    assert answered(town, interaction, 8, data={"choices": choices}) is None
    assert list(town.world.interaction(interaction.id).choices) == choices


def test_commands_are_replaced_and_keep_their_ids(town: Town) -> None:
    world, application = town.world, town.application.id
    first = world.put_command(application, None, ASK)
    (again,) = world.set_commands(application, None, [ASK | {"description": "anew"}])
    assert (again.id, again.description) == (first.id, "anew")
    local = world.put_command(application, town.guild, {"name": "here", "description": "x"})
    assert [each.name for each in world.usable_commands(town.member, town.general)] == [
        "ask", "here",
    ]  # fmt: skip
    dm = world.open_dm(town.member, town.bot)
    assert [each.name for each in world.usable_commands(town.member, dm.id)] == ["ask"]
    with town.refused(UNKNOWN_COMMAND):
        world.invoke_command(town.member, dm.id, local.id)
    assert world.edit_command(application, local.id, {"description": "y"}).description == "y"
    world.set_commands(application, None, [])
    assert world.commands(application, None) == []
    with town.refused(UNKNOWN_COMMAND):
        world.delete_command(application, first.id)


def test_a_command_for_some_is_refused_to_others(town: Town) -> None:
    needed = str(int(Permissions.MANAGE_MESSAGES))
    command = town.world.put_command(
        town.application.id,
        None,
        {"name": "clean", "description": "x", "default_member_permissions": needed},
    )
    assert town.world.usable_commands(town.member, town.general) == []
    with town.refused(MISSING_PERMISSIONS):
        town.world.invoke_command(town.member, town.general, command.id)
    town.world.invoke_command(town.owner, town.general, command.id)


@pytest.mark.parametrize("name", ["", "Upper", "two words", "x" * 33, "semi;colon"])
def test_a_name_that_is_none_is_refused(town: Town, name: str) -> None:
    with town.refused(INVALID_FORM):
        town.world.put_command(town.application.id, None, {"name": name, "description": "x"})


def test_a_context_menu_names_its_target(town: Town) -> None:
    message = town.say("about this")
    on_message = {"name": "Explain this", "type": 3}
    command = town.world.put_command(town.application.id, None, on_message)
    town.world.invoke_command(town.member, town.general, command.id, target_id=message.id)
    data = town.heard[-1].data["data"]
    assert data["target_id"] == str(message.id)
    assert data["resolved"]["messages"][str(message.id)]["content"] == "about this"

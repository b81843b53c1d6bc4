"""Whom a message mentions."""

import pytest

from clankie.sim.errors import INVALID_FORM
from clankie.sim.world.entities import AllowedMentions, MessageEdit, Reference
from clankie.sim.world.mentions import Mentions, read
from clankie.sim.world.permissions import Permissions
from sim.world.worlds import Town

NOBODY = AllowedMentions()


@pytest.mark.parametrize(
    ("text", "users", "roles", "everyone"),
    [
        ("<@5> and <@!6>, <@5> again", (5, 6), (), False),
        ("<@&7>", (), (7,), False),
        ("@everyone", (), (), True),
        ("hi @here!", (), (), True),
        ("@everyones", (), (), False),
        ("<@>, <@x>, <@ 5>, @5", (), (), False),
        ("`<@5>` and ``<@&7> @here``", (), (), False),
        ("```\n<@5>\n@everyone\n```<@6>", (6,), (), False),
        ("a ` alone <@5>", (5,), (), False),
        (r"\<@5> \@everyone", (), (), False),
        ("<@５>", (), (), False),  # noqa: RUF001 - a full-width digit is no digit of an id
        ("<@99999999999999999999>", (), (), False),
    ],
)
def test_a_text_mentions(
    text: str, users: tuple[int, ...], roles: tuple[int, ...], everyone: bool
) -> None:
    assert read(text, None) == Mentions(users, roles, everyone)


@pytest.mark.parametrize(
    ("allowed", "counts"),
    [
        (None, Mentions((5, 6), (7,), True)),
        (NOBODY, Mentions((), (), False)),
        (AllowedMentions(frozenset({"users"})), Mentions((5, 6), (), False)),
        (AllowedMentions(frozenset({"roles"})), Mentions((), (7,), False)),
        (AllowedMentions(frozenset({"everyone"})), Mentions((), (), True)),
        (AllowedMentions(users=frozenset({6, 9})), Mentions((6,), (), False)),
        (AllowedMentions(roles=frozenset({7})), Mentions((), (7,), False)),
    ],
)
def test_what_is_allowed_counts(allowed: AllowedMentions | None, counts: Mentions) -> None:
    assert read("<@5> <@6> <@&7> @everyone", allowed) == counts


def test_only_who_exists_is_mentioned(town: Town) -> None:
    message = town.say(f"<@{town.member}> <@{town.stranger}> <@5>")
    assert message.mention_ids == (town.member, town.stranger)


def test_everyone_and_roles_need_permission(town: Town) -> None:
    world = town.world
    closed = world.create_role(town.owner, town.guild, "closed")
    free = world.create_role(town.owner, town.guild, "free", mentionable=True)
    text = f"@everyone <@&{closed.id}> <@&{free.id}> <@&{town.guild}>"
    from_member = town.say(text, town.member)
    assert (from_member.mention_everyone, from_member.mention_role_ids) == (False, (free.id,))
    from_owner = town.say(text)
    assert (from_owner.mention_everyone, set(from_owner.mention_role_ids)) == (
        True,
        {closed.id, free.id},
    )
    assert world.permissions_in(town.owner, town.general) & Permissions.MENTION_EVERYONE


def test_a_reply_mentions_whom_it_answers_unless_told_otherwise(town: Town) -> None:
    asked = town.say("question", town.member)
    reference = Reference(town.general, asked.id)
    assert town.say("answer", reference=reference).mention_ids == (town.member,)
    silent = town.say("answer", reference=reference, allowed_mentions=NOBODY)
    assert silent.mention_ids == ()
    pinged = town.say(
        "answer", reference=reference, allowed_mentions=AllowedMentions(replied_user=True)
    )
    assert pinged.mention_ids == (town.member,)


def test_an_edit_counts_mentions_anew(town: Town) -> None:
    message = town.say("hello")
    edit = MessageEdit(content=f"<@{town.member}>")
    edited = town.world.edit_message(town.owner, town.general, message.id, edit)
    assert edited.mention_ids == (town.member,)
    edit = MessageEdit(content=f"<@{town.member}>", allowed_mentions=NOBODY)
    edited = town.world.edit_message(town.owner, town.general, message.id, edit)
    assert edited.mention_ids == ()


@pytest.mark.parametrize(
    "allowed",
    [
        AllowedMentions(frozenset({"users"}), users=frozenset({5})),
        AllowedMentions(frozenset({"roles"}), roles=frozenset({5})),
        AllowedMentions(users=frozenset(range(101))),
    ],
)
def test_allowed_mentions_that_contradict_themselves_are_refused(
    town: Town, allowed: AllowedMentions
) -> None:
    with town.refused(INVALID_FORM):
        town.say("hello", allowed_mentions=allowed)

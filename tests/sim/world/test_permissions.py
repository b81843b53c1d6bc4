"""Who may do what, as Discord computes it."""

import pytest

from clankie.sim.errors import (
    MISSING_ACCESS,
    MISSING_PERMISSIONS,
    UNKNOWN_CHANNEL,
    UNKNOWN_OVERWRITE,
)
from clankie.sim.world.entities import ChannelType, MessageDraft, Overwrite, OverwriteType
from clankie.sim.world.permissions import DEFAULT_EVERYONE, DM_PERMISSIONS, Permissions
from sim.world.worlds import Town

VIEW, SEND = Permissions.VIEW_CHANNEL, Permissions.SEND_MESSAGES
ROLE, MEMBER = OverwriteType.ROLE, OverwriteType.MEMBER


def test_a_member_has_what_everyone_has(town: Town) -> None:
    assert town.world.permissions_in(town.member, town.general) == DEFAULT_EVERYONE


def test_roles_add_up(town: Town) -> None:
    world = town.world
    roles = [
        world.create_role(town.owner, town.guild, "one", permissions=Permissions.MANAGE_MESSAGES),
        world.create_role(town.owner, town.guild, "two", permissions=Permissions.KICK_MEMBERS),
    ]
    world.set_roles(town.owner, town.guild, town.member, [each.id for each in roles])
    granted = world.permissions_in(town.member, town.general)
    assert granted == DEFAULT_EVERYONE | Permissions.MANAGE_MESSAGES | Permissions.KICK_MEMBERS


def test_a_stranger_has_nothing(town: Town) -> None:
    assert town.world.permissions_in(town.stranger, town.general) == Permissions.NONE
    with town.refused(MISSING_ACCESS):
        town.say("hello", town.stranger)


def test_owner_and_administrator_have_everything_whatever_a_channel_says(town: Town) -> None:
    world = town.world
    role = world.create_role(town.owner, town.guild, "admin", permissions=Permissions.ADMINISTRATOR)
    world.set_roles(town.owner, town.guild, town.member, [role.id])
    place = town.channel(overwrites=[Overwrite(town.guild, ROLE, deny=Permissions.ALL)])
    for actor in (town.owner, town.member):
        assert world.permissions_in(actor, place.id) == Permissions.ALL


@pytest.mark.parametrize(
    ("everyone", "role", "member", "sees"),
    [
        ((0, 0), (0, 0), (0, 0), True),
        ((0, VIEW), (0, 0), (0, 0), False),
        ((0, VIEW), (VIEW, 0), (0, 0), True),
        ((0, VIEW), (VIEW, 0), (0, VIEW), False),
        ((0, VIEW), (0, VIEW), (VIEW, 0), True),
        ((VIEW, 0), (0, VIEW), (0, 0), False),
        ((0, 0), (0, 0), (0, VIEW), False),
    ],
)
def test_overwrites_go_from_everyone_over_roles_to_the_member(
    town: Town,
    everyone: tuple[Permissions, Permissions],
    role: tuple[Permissions, Permissions],
    member: tuple[Permissions, Permissions],
    sees: bool,
) -> None:
    world = town.world
    theirs = world.create_role(town.owner, town.guild, "theirs")
    world.set_roles(town.owner, town.guild, town.member, [theirs.id])
    place = town.channel(
        overwrites=[
            Overwrite(town.member, MEMBER, *member),
            Overwrite(theirs.id, ROLE, *role),
            Overwrite(town.guild, ROLE, *everyone),
        ]
    )
    assert world.can_view(town.member, place.id) is sees
    assert (place in world.visible_channels(town.member, town.guild)) is sees


def test_of_several_roles_one_that_allows_wins(town: Town) -> None:
    world = town.world
    roles = [world.create_role(town.owner, town.guild, name).id for name in ("one", "two")]
    world.set_roles(town.owner, town.guild, town.member, roles)
    place = town.channel(
        overwrites=[Overwrite(roles[0], ROLE, deny=SEND), Overwrite(roles[1], ROLE, allow=SEND)]
    )
    assert world.permissions_in(town.member, place.id) & SEND


def test_who_may_not_view_may_nothing_and_who_may_not_send_sends_no_files(town: Town) -> None:
    hidden = town.channel(overwrites=[Overwrite(town.guild, ROLE, deny=VIEW)])
    quiet = town.channel(overwrites=[Overwrite(town.guild, ROLE, deny=SEND)])
    assert town.world.permissions_in(town.member, hidden.id) == Permissions.NONE
    granted = town.world.permissions_in(town.member, quiet.id)
    assert granted & VIEW
    assert not granted & (Permissions.ATTACH_FILES | Permissions.EMBED_LINKS)
    with town.refused(MISSING_ACCESS):
        town.world.post_message(town.member, hidden.id, MessageDraft("hello"))
    with town.refused(MISSING_PERMISSIONS):
        town.world.post_message(town.member, quiet.id, MessageDraft("hello"))


def test_a_thread_has_its_channels_permissions_and_its_own_for_sending(town: Town) -> None:
    world = town.world
    place = town.channel(overwrites=[Overwrite(town.guild, ROLE, deny=SEND)])
    thread = world.create_thread(town.owner, place.id, "thread")
    world.post_message(town.member, thread.id, MessageDraft("hello"))
    deny = Permissions.SEND_MESSAGES_IN_THREADS
    world.set_overwrite(town.owner, place.id, Overwrite(town.guild, ROLE, deny=deny))
    with town.refused(MISSING_PERMISSIONS):
        world.post_message(town.member, thread.id, MessageDraft("hello"))
    world.set_overwrite(town.owner, place.id, Overwrite(town.guild, ROLE, deny=VIEW))
    assert not world.can_view(town.member, thread.id)


def test_a_private_thread_is_seen_by_followers_and_by_who_manages_threads(town: Town) -> None:
    world = town.world
    thread = world.create_thread(
        town.owner, town.general, "thread", type=ChannelType.PRIVATE_THREAD
    )
    assert not world.can_view(town.member, thread.id)
    world.join_thread(town.owner, thread.id, town.member)
    assert world.can_view(town.member, thread.id)
    world.leave_thread(town.owner, thread.id, town.member)
    assert not world.can_view(town.member, thread.id)
    role = world.create_role(
        town.owner, town.guild, "keeper", permissions=Permissions.MANAGE_THREADS
    )
    world.set_roles(town.owner, town.guild, town.member, [role.id])
    assert world.can_view(town.member, thread.id)


def test_a_direct_conversation_is_for_two(town: Town) -> None:
    dm = town.world.open_dm(town.owner, town.member)
    assert town.world.open_dm(town.member, town.owner) == dm
    assert town.world.permissions_in(town.owner, dm.id) == DM_PERMISSIONS
    with town.refused(MISSING_ACCESS):
        town.world.post_message(town.stranger, dm.id, MessageDraft("hello"))


def test_a_channel_that_is_not_there_is_unknown(town: Town) -> None:
    with town.refused(UNKNOWN_CHANNEL):
        town.world.post_message(town.owner, 1, MessageDraft("hello"))


def test_a_channel_takes_its_categorys_overwrites(town: Town) -> None:
    rule = Overwrite(town.guild, ROLE, deny=VIEW)
    category = town.channel(type=ChannelType.CATEGORY, overwrites=[rule])
    assert town.channel(parent_id=category.id).overwrites == (rule,)
    own = Overwrite(town.member, MEMBER, allow=VIEW)
    assert town.channel(parent_id=category.id, overwrites=[own]).overwrites == (own,)


def test_nobody_gives_a_role_above_his_own_or_one_that_grants_what_he_has_not(town: Town) -> None:
    world = town.world
    low = world.create_role(town.owner, town.guild, "low")
    keeper = world.create_role(
        town.owner, town.guild, "keeper", permissions=Permissions.MANAGE_ROLES
    )
    assert [each.name for each in world.roles(town.guild)] == ["@everyone", "keeper", "low", "bot"]
    world.set_roles(town.owner, town.guild, town.member, [keeper.id])
    with town.refused(MISSING_PERMISSIONS):
        world.set_roles(town.member, town.guild, town.member, [keeper.id, low.id])
    with town.refused(MISSING_PERMISSIONS):
        world.create_role(town.member, town.guild, "admin", permissions=Permissions.ADMINISTRATOR)
    with town.refused(MISSING_PERMISSIONS):
        world.kick(town.member, town.guild, town.owner)


def test_a_removed_role_is_gone_everywhere(town: Town) -> None:
    world = town.world
    role = world.create_role(town.owner, town.guild, "gone", permissions=SEND)
    world.set_roles(town.owner, town.guild, town.member, [role.id])
    place = town.channel(overwrites=[Overwrite(role.id, ROLE, deny=SEND)])
    world.delete_role(town.owner, town.guild, role.id)
    assert world.member(town.guild, town.member).role_ids == ()
    assert world.channel(place.id).overwrites == ()
    with town.refused(UNKNOWN_OVERWRITE):
        world.delete_overwrite(town.owner, place.id, role.id)

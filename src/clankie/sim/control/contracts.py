"""What the control API takes. Ids are decimal strings; who does something is `as`.

Owns these shapes. Must not know the world.
"""

from typing import Annotated, Any

import msgspec

Id = Annotated[str, msgspec.Meta(pattern=r"^[0-9]{1,20}\Z", description="A Discord id.")]
Name = Annotated[str, msgspec.Meta(min_length=1, max_length=100)]


class Ask(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """What a person asks for."""


class Acting(Ask, frozen=True):
    """Who does it, and no more."""

    as_: Id = msgspec.field(name="as")


class ForwardOf(Ask, frozen=True):
    """The message that is forwarded."""

    channel_id: Id
    message_id: Id


class NewMessage(Ask, frozen=True):
    """A message. `ping`: whether a reply mentions the author it answers."""

    as_: Id = msgspec.field(name="as")
    content: str = ""
    reply_to: Id | None = None
    ping: bool = True
    forward: ForwardOf | None = None
    stickers: tuple[str, ...] = ()
    poll: dict[str, Any] | None = None


class EditedMessage(Ask, frozen=True):
    """What it says instead."""

    content: str
    as_: Id = msgspec.field(name="as")


class NewThread(Ask, frozen=True):
    """A thread, from a message or by itself."""

    name: Name
    as_: Id = msgspec.field(name="as")
    message_id: Id | None = None
    private: bool = False


class NewPost(Ask, frozen=True):
    """A forum's post with its first message."""

    name: Name
    content: str
    as_: Id = msgspec.field(name="as")
    tags: tuple[Id, ...] = ()


class ChangedChannel(Ask, frozen=True):
    """What of a channel changes."""

    as_: Id = msgspec.field(name="as")
    name: Name | None = None
    topic: str | None = None
    archived: bool | None = None
    locked: bool | None = None


class SeenBy(Ask, frozen=True):
    """Whether a role or a member sees a channel: `allow`, `deny`, or `default` for what the roles say."""

    view: Annotated[str, msgspec.Meta(pattern="^(allow|deny|default)$")]
    as_: Id = msgspec.field(name="as")


class NewPerson(Ask, frozen=True):
    """Somebody to speak as, in a server or in none."""

    name: Name
    guild_id: Id | None = None


class NewGuild(Ask, frozen=True):
    """A server, owned by whoever makes it."""

    name: Name
    as_: Id = msgspec.field(name="as")


class NewChannel(Ask, frozen=True):
    """A channel. `private`: @everyone does not see it."""

    name: Name
    as_: Id = msgspec.field(name="as")
    type: Annotated[int, msgspec.Meta(description="0, 2, 4, 5 or 15")] = 0
    parent_id: Id | None = None
    topic: str | None = None
    private: bool = False
    tags: tuple[Name, ...] = ()


class NewRole(Ask, frozen=True):
    """A role. `manager`: may manage channels, messages and threads."""

    name: Name
    as_: Id = msgspec.field(name="as")
    mentionable: bool = False
    manager: bool = False


class NewMember(Ask, frozen=True):
    """Who joins."""

    user_id: Id


class MemberRoles(Ask, frozen=True):
    """All roles of a member, without @everyone."""

    roles: tuple[Id, ...]
    as_: Id = msgspec.field(name="as")


class NewDm(Ask, frozen=True):
    """With whom."""

    as_: Id = msgspec.field(name="as")
    with_: Id = msgspec.field(name="with")


class NewApplication(Ask, frozen=True):
    """A bot, what privileged intents it may ask for, and the server it joins."""

    name: Name
    as_: Id = msgspec.field(name="as")
    message_content: bool = True
    members: bool = True
    presences: bool = False
    guild_id: Id | None = None


class UsedCommand(Ask, frozen=True):
    """A command's options, as Discord's objects {name, type, value}; of subcommands nested."""

    as_: Id = msgspec.field(name="as")
    options: tuple[dict[str, Any], ...] = ()


class UsedComponent(Ask, frozen=True):
    """A button or a select of a message."""

    custom_id: str
    as_: Id = msgspec.field(name="as")
    component_type: int = 2
    values: tuple[str, ...] = ()


class FilledForm(Ask, frozen=True):
    """What was entered into a form, as Discord's components."""

    components: tuple[dict[str, Any], ...]
    as_: Id = msgspec.field(name="as")


class MadeThing(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """What was made. `channel_id`: of a server, its first channel."""

    id: str
    channel_id: str | None = None

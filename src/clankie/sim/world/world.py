"""The world's public face. Signatures first: the bodies follow in the subjects' own files.

World is one object with flat methods; it is used from one event loop, and every mutator is synchronous: it checks what
the actor may do, raises ApiError with nothing changed, or stores the change, makes it visible and dispatches it.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from msgspec import UNSET, UnsetType

from clankie.protocol.primitives import RandomBytes, random_bytes
from clankie.runtime.clock import Clock
from clankie.sim.world.entities import (
    Application,
    Channel,
    ChannelType,
    Command,
    Emoji,
    ForumTag,
    Guild,
    Interaction,
    Member,
    Message,
    MessageDraft,
    MessageEdit,
    Overwrite,
    Role,
    SessionStartLimit,
    ThreadMember,
    User,
    Webhook,
)
from clankie.sim.world.permissions import Intent, Permissions


class Dispatch(NamedTuple):
    """Something happened. (Will be a class of its own in sim/world/dispatch.py with the same attributes.)

    Attributes:
        event: Discord's name for it, as MESSAGE_CREATE.
        data: the full payload, made once. Do not change it.
        guild_id, channel_id: where; a hearer must be in the one and may see the other. None: not asked for.
        intent: what a session must have asked for; NONE: nothing.
        recipients: if not None, only these user ids hear it, in or out of the server.
    """

    event: str
    data: dict[str, Any]
    guild_id: int | None
    channel_id: int | None
    intent: Intent
    recipients: frozenset[int] | None


class World:
    """Who and what there is.

    Args:
        clock: whose time ids and limits follow.
        random_bytes: tokens come from it.
        store: a file that the state survives in (sim/store.py); None keeps it in memory.
    """

    def __init__(
        self, clock: Clock, random_bytes: RandomBytes = random_bytes, store: Any = None
    ) -> None:
        raise NotImplementedError

    def subscribe(self, listener: Callable[[Dispatch], None]) -> Callable[[], None]:
        """Hear every dispatch from now on, in order, synchronously. Returns what ends it."""
        raise NotImplementedError

    def may_hear(self, user_id: int, dispatch: Dispatch) -> bool:
        """Whether a user is one whom a dispatch is for: recipient, or member who may view the channel (no intents)."""
        raise NotImplementedError

    # -- people, applications

    def create_person(self, name: str, *, username: str | None = None) -> User:
        """A new person. `name` is the display name; the username is made from it, unique."""
        raise NotImplementedError

    def user(self, user_id: int) -> User:
        """Raises Unknown (10013)."""
        raise NotImplementedError

    def users(self) -> list[User]:
        """All people and bots, oldest first."""
        raise NotImplementedError

    def edit_user(
        self,
        user_id: int,
        *,
        username: str | UnsetType = UNSET,
        global_name: str | None | UnsetType = UNSET,
        avatar: str | None | UnsetType = UNSET,
        dms_open: bool | UnsetType = UNSET,
    ) -> User:
        """Change a user; USER_UPDATE for themselves, GUILD_MEMBER_UPDATE where they are members."""
        raise NotImplementedError

    def open_dm(self, actor_id: int, recipient_id: int) -> Channel:
        """The one direct conversation of two. Raises Unknown (10013), Invalid (50033: with oneself)."""
        raise NotImplementedError

    def dms_of(self, user_id: int) -> list[Channel]:
        """Their direct conversations, oldest first."""
        raise NotImplementedError

    def create_application(
        self,
        name: str,
        owner_id: int,
        *,
        privileged: Intent = Intent.PRIVILEGED,
        redirect_uris: Iterable[str] = (),
    ) -> Application:
        """An application with a bot and a token `<base64 of the bot's id>.<6>.<38>`; its client id is its id."""
        raise NotImplementedError

    def application(self, application_id: int) -> Application:
        """Raises Unknown (10002)."""
        raise NotImplementedError

    def applications(self) -> list[Application]:
        """All, oldest first."""
        raise NotImplementedError

    def application_by_token(self, token: str) -> Application | None:
        """Whose bot token it is."""
        raise NotImplementedError

    def application_of_bot(self, user_id: int) -> Application | None:
        """The application whose bot the user is."""
        raise NotImplementedError

    def edit_application(
        self,
        application_id: int,
        *,
        name: str | UnsetType = UNSET,
        description: str | UnsetType = UNSET,
        privileged: Intent | UnsetType = UNSET,
        redirect_uris: Iterable[str] | UnsetType = UNSET,
    ) -> Application:
        """Change it. What running sessions were granted stays theirs until they identify again."""
        raise NotImplementedError

    def reset_token(self, application_id: int) -> Application:
        """A new bot token; the old one is refused from now on, and its sessions are closed (4004)."""
        raise NotImplementedError

    def session_start_limit(self, application_id: int) -> SessionStartLimit:
        """What is left of the day's starts. The gateway spends them (`spend_session_start`)."""
        raise NotImplementedError

    # -- guilds, members, roles

    def create_guild(self, owner_id: int, name: str) -> Guild:
        """A server with @everyone and #general."""
        raise NotImplementedError

    def guild(self, guild_id: int) -> Guild:
        """Raises Unknown (10004)."""
        raise NotImplementedError

    def guilds(self) -> list[Guild]:
        """All, oldest first."""
        raise NotImplementedError

    def guilds_of(self, user_id: int) -> list[Guild]:
        """Those the user is a member of."""
        raise NotImplementedError

    def edit_guild(self, actor_id: int, guild_id: int, *, name: str | UnsetType = UNSET) -> Guild:
        """Needs MANAGE_GUILD."""
        raise NotImplementedError

    def set_outage(self, guild_id: int, outage: bool) -> Guild:  # noqa: FBT001
        """Make a server unavailable, or available again. No permission: it is Discord that fails."""
        raise NotImplementedError

    def create_emoji(
        self, actor_id: int, guild_id: int, name: str, *, animated: bool = False
    ) -> Emoji:
        """Needs MANAGE_EXPRESSIONS."""
        raise NotImplementedError

    def join(
        self, guild_id: int, user_id: int, *, permissions: Permissions = Permissions.NONE
    ) -> Member:
        """Make a user a member; the member already there if so. A bot gets a managed role with `permissions`."""
        raise NotImplementedError

    def leave(self, guild_id: int, user_id: int) -> None:
        """Leave. The owner cannot. Raises Unknown (10007)."""
        raise NotImplementedError

    def kick(self, actor_id: int, guild_id: int, user_id: int) -> None:
        """Needs KICK_MEMBERS and a higher role."""
        raise NotImplementedError

    def member(self, guild_id: int, user_id: int) -> Member:
        """Raises Unknown (10004, 10007)."""
        raise NotImplementedError

    def is_member(self, guild_id: int, user_id: int) -> bool:
        raise NotImplementedError

    def members(self, guild_id: int) -> list[Member]:
        """By user id, ascending."""
        raise NotImplementedError

    def set_nick(self, actor_id: int, guild_id: int, user_id: int, nick: str | None) -> Member:
        """Needs CHANGE_NICKNAME for oneself, else MANAGE_NICKNAMES."""
        raise NotImplementedError

    def set_roles(
        self, actor_id: int, guild_id: int, user_id: int, role_ids: Iterable[int]
    ) -> Member:
        """Needs MANAGE_ROLES; roles that change must be below the actor's highest."""
        raise NotImplementedError

    def create_role(
        self,
        actor_id: int,
        guild_id: int,
        name: str,
        *,
        permissions: Permissions = Permissions.NONE,
        color: int = 0,
        hoist: bool = False,
        mentionable: bool = False,
    ) -> Role:
        """Needs MANAGE_ROLES."""
        raise NotImplementedError

    def edit_role(
        self,
        actor_id: int,
        guild_id: int,
        role_id: int,
        *,
        name: str | UnsetType = UNSET,
        permissions: Permissions | UnsetType = UNSET,
        color: int | UnsetType = UNSET,
        mentionable: bool | UnsetType = UNSET,
    ) -> Role:
        """Needs MANAGE_ROLES and a higher role."""
        raise NotImplementedError

    def delete_role(self, actor_id: int, guild_id: int, role_id: int) -> None:
        """Needs MANAGE_ROLES and a higher role; not @everyone, not a bot's own."""
        raise NotImplementedError

    def role(self, guild_id: int, role_id: int) -> Role:
        """Raises Unknown (10011)."""
        raise NotImplementedError

    def roles(self, guild_id: int) -> list[Role]:
        """By position, @everyone first."""
        raise NotImplementedError

    # -- permissions

    def permissions_in(self, user_id: int, channel_id: int) -> Permissions:
        """What a user may do there, as Discord computes it; NONE for a stranger. A thread has its parent's."""
        raise NotImplementedError

    def guild_permissions(self, user_id: int, guild_id: int) -> Permissions:
        """What a member's roles give, without any channel's overwrites; NONE for a stranger."""
        raise NotImplementedError

    def can_view(self, user_id: int, channel_id: int) -> bool:
        """VIEW_CHANNEL; of a private thread also that they follow it or may manage threads; of a DM, that it is theirs."""
        raise NotImplementedError

    def require(self, user_id: int, channel_id: int, needed: Permissions) -> Channel:
        """The channel. Raises Unknown (10003), Forbidden (50001 without sight of it, 50013)."""
        raise NotImplementedError

    # -- channels, threads

    def channel(self, channel_id: int) -> Channel:
        """Threads and DMs too. Raises Unknown (10003)."""
        raise NotImplementedError

    def channels(self, guild_id: int) -> list[Channel]:
        """A server's channels without threads, by position."""
        raise NotImplementedError

    def visible_channels(self, user_id: int, guild_id: int) -> list[Channel]:
        """Of those, the ones that the user may see."""
        raise NotImplementedError

    def create_channel(
        self,
        actor_id: int,
        guild_id: int,
        name: str,
        type: ChannelType = ChannelType.TEXT,
        *,  # noqa: A002
        parent_id: int | None = None,
        topic: str | None = None,
        position: int | None = None,
        overwrites: Iterable[Overwrite] = (),
        nsfw: bool = False,
        rate_limit_per_user: int = 0,
        available_tags: Iterable[str] = (),
    ) -> Channel:
        """Needs MANAGE_CHANNELS. Without overwrites of its own it gets its category's."""
        raise NotImplementedError

    def edit_channel(
        self,
        actor_id: int,
        channel_id: int,
        *,
        name: str | UnsetType = UNSET,
        topic: str | None | UnsetType = UNSET,
        position: int | UnsetType = UNSET,
        parent_id: int | None | UnsetType = UNSET,
        nsfw: bool | UnsetType = UNSET,
        rate_limit_per_user: int | UnsetType = UNSET,
        overwrites: Iterable[Overwrite] | UnsetType = UNSET,
        archived: bool | UnsetType = UNSET,
        locked: bool | UnsetType = UNSET,
        auto_archive_minutes: int | UnsetType = UNSET,
        invitable: bool | UnsetType = UNSET,
        applied_tags: Iterable[int] | UnsetType = UNSET,
    ) -> Channel:
        """Needs MANAGE_CHANNELS, of a thread MANAGE_THREADS or to own it."""
        raise NotImplementedError

    def delete_channel(self, actor_id: int, channel_id: int) -> Channel:
        """With its threads and messages. Needs MANAGE_CHANNELS, of a thread MANAGE_THREADS; a DM only closes."""
        raise NotImplementedError

    def set_overwrite(self, actor_id: int, channel_id: int, overwrite: Overwrite) -> Channel:
        """Needs MANAGE_ROLES there."""
        raise NotImplementedError

    def delete_overwrite(self, actor_id: int, channel_id: int, target_id: int) -> Channel:
        """Needs MANAGE_ROLES there. Raises Unknown (10009)."""
        raise NotImplementedError

    def create_thread(
        self,
        actor_id: int,
        channel_id: int,
        name: str,
        *,
        message_id: int | None = None,
        type: ChannelType = ChannelType.PUBLIC_THREAD,
        auto_archive_minutes: int = 1_440,  # noqa: A002
        invitable: bool = True,
        rate_limit_per_user: int = 0,
    ) -> Channel:
        """From a message (then the thread has the message's id) or without one. Raises Invalid (160004)."""
        raise NotImplementedError

    def create_forum_post(
        self,
        actor_id: int,
        channel_id: int,
        name: str,
        draft: MessageDraft,
        *,
        applied_tags: Iterable[int] = (),
        auto_archive_minutes: int = 1_440,
    ) -> tuple[Channel, Message]:
        """A thread and its first message, which has the thread's id. Needs SEND_MESSAGES."""
        raise NotImplementedError

    def join_thread(self, actor_id: int, thread_id: int, user_id: int) -> None:
        """Follow a thread, or add somebody (needs SEND_MESSAGES_IN_THREADS)."""
        raise NotImplementedError

    def leave_thread(self, actor_id: int, thread_id: int, user_id: int) -> None:
        """Follow no more; somebody else: MANAGE_THREADS, or own a private thread."""
        raise NotImplementedError

    def thread_members(self, thread_id: int) -> tuple[ThreadMember, ...]:
        raise NotImplementedError

    def active_threads(self, guild_id: int, user_id: int) -> list[Channel]:
        """Those not archived that the user may see, newest first."""
        raise NotImplementedError

    def archived_threads(
        self, user_id: int, channel_id: int, *, private: bool = False
    ) -> list[Channel]:
        """Archived ones of a channel that the user may see, last archived first."""
        raise NotImplementedError

    # -- messages

    def post_message(self, actor_id: int, channel_id: int, draft: MessageDraft) -> Message:
        """Post. Raises Unknown, Forbidden (50001, 50013, 50007), Invalid (50006, 50035, 40058, 50008), ...

        Size limits of content, embeds and files are checked here, too.
        """
        raise NotImplementedError

    def edit_message(
        self, actor_id: int, channel_id: int, message_id: int, edit: MessageEdit
    ) -> Message:
        """One's own (50005 else; MANAGE_MESSAGES may change SUPPRESS_EMBEDS alone)."""
        raise NotImplementedError

    def delete_message(self, actor_id: int, channel_id: int, message_id: int) -> None:
        """One's own, or with MANAGE_MESSAGES."""
        raise NotImplementedError

    def bulk_delete(self, actor_id: int, channel_id: int, message_ids: Iterable[int]) -> None:
        """2 to 100, under 14 days old; unknown ones are passed over. Needs MANAGE_MESSAGES."""
        raise NotImplementedError

    def message(self, channel_id: int, message_id: int) -> Message:
        """Raises Unknown (10008). Asks no permission: `require` does."""
        raise NotImplementedError

    def history(
        self,
        channel_id: int,
        *,
        before: int | None = None,
        after: int | None = None,
        around: int | None = None,
        limit: int = 50,
        viewer_id: int | None = None,
    ) -> list[Message]:
        """Newest first, at most one of before, after, around. Ephemeral ones only for `viewer_id`. Asks no permission."""
        raise NotImplementedError

    def attachment_bytes(self, attachment_id: int) -> bytes | None:
        """What was uploaded; None when it is gone with its message."""
        raise NotImplementedError

    def pin(self, actor_id: int, channel_id: int, message_id: int) -> None:
        """Needs PIN_MESSAGES or MANAGE_MESSAGES; at most 50. A system message tells of it."""
        raise NotImplementedError

    def unpin(self, actor_id: int, channel_id: int, message_id: int) -> None:
        raise NotImplementedError

    def pins(self, channel_id: int) -> list[Message]:
        """Newest pin... newest message first."""
        raise NotImplementedError

    def start_typing(self, actor_id: int, channel_id: int) -> None:
        """Needs SEND_MESSAGES."""
        raise NotImplementedError

    def add_reaction(self, actor_id: int, channel_id: int, message_id: int, emoji: Emoji) -> None:
        """Nothing when it is there. A new emoji needs ADD_REACTIONS. Raises Invalid (10014 unknown custom emoji)."""
        raise NotImplementedError

    def remove_reaction(
        self, actor_id: int, channel_id: int, message_id: int, emoji: Emoji, user_id: int
    ) -> None:
        """One's own, or with MANAGE_MESSAGES."""
        raise NotImplementedError

    def clear_reactions(
        self, actor_id: int, channel_id: int, message_id: int, emoji: Emoji | None = None
    ) -> None:
        """All, or all of one emoji. Needs MANAGE_MESSAGES."""
        raise NotImplementedError

    def reactors(self, channel_id: int, message_id: int, emoji: Emoji) -> list[User]:
        """Who reacted with it, by id."""
        raise NotImplementedError

    def create_webhook(self, actor_id: int, channel_id: int, name: str) -> Webhook:
        """Needs MANAGE_WEBHOOKS."""
        raise NotImplementedError

    def webhook(self, webhook_id: int, token: str | None = None) -> Webhook:
        """Raises Unknown (10015), or Invalid (50027) for a wrong token."""
        raise NotImplementedError

    def webhooks(self, channel_id: int) -> list[Webhook]:
        raise NotImplementedError

    def delete_webhook(self, webhook_id: int) -> None:
        raise NotImplementedError

    def execute_webhook(
        self,
        webhook_id: int,
        draft: MessageDraft,
        *,
        username: str | None = None,
        thread_id: int | None = None,
    ) -> Message:
        """Post as the webhook; edit and delete with the webhook's id as the actor."""
        raise NotImplementedError

    # -- commands, interactions

    def set_commands(
        self, application_id: int, guild_id: int | None, commands: Sequence[dict[str, Any]]
    ) -> list[Command]:
        """Replace all. Each as Discord's object (name, description, type, options, ...); same name keeps its id."""
        raise NotImplementedError

    def put_command(
        self, application_id: int, guild_id: int | None, command: dict[str, Any]
    ) -> Command:
        """Create, or replace the one of the same name and type."""
        raise NotImplementedError

    def edit_command(
        self, application_id: int, command_id: int, changes: dict[str, Any]
    ) -> Command:
        raise NotImplementedError

    def delete_command(self, application_id: int, command_id: int) -> None:
        raise NotImplementedError

    def command(self, application_id: int, command_id: int) -> Command:
        """Raises Unknown (10063)."""
        raise NotImplementedError

    def commands(self, application_id: int, guild_id: int | None) -> list[Command]:
        raise NotImplementedError

    def usable_commands(self, user_id: int, channel_id: int) -> list[Command]:
        """What a user can invoke in a channel: of bots in the server, or of the bot in the DM."""
        raise NotImplementedError

    def invoke_command(
        self,
        actor_id: int,
        channel_id: int,
        command_id: int,
        options: Sequence[dict[str, Any]] = (),
        *,
        target_id: int | None = None,
    ) -> Interaction:
        """Use a command; `options` as Discord's objects {name, type, value}; resolved users, roles are added.

        Raises Unknown (10063), Forbidden (50013: USE_APPLICATION_COMMANDS).
        """
        raise NotImplementedError

    def autocomplete(
        self, actor_id: int, channel_id: int, command_id: int, options: Sequence[dict[str, Any]]
    ) -> Interaction:
        """Ask for suggestions while typing; they are in `Interaction.choices` once answered."""
        raise NotImplementedError

    def click(
        self,
        actor_id: int,
        channel_id: int,
        message_id: int,
        custom_id: str,
        component_type: int = 2,
        values: Sequence[str] = (),
    ) -> Interaction:
        """Use a component of a message."""
        raise NotImplementedError

    def submit_modal(
        self, actor_id: int, interaction_id: int, components: Sequence[dict[str, Any]]
    ) -> Interaction:
        """Send in the form that an interaction was answered with."""
        raise NotImplementedError

    def interaction(self, interaction_id: int) -> Interaction:
        """For whoever shows it. Raises Unknown (10062)."""
        raise NotImplementedError

    def respond_interaction(
        self,
        interaction_id: int,
        token: str,
        kind: int,
        *,
        draft: MessageDraft | None = None,
        edit: MessageEdit | None = None,
        data: dict[str, Any] | None = None,
    ) -> Message | None:
        """Answer. `kind` is Discord's callback type: 4 (draft), 5 (draft.flags EPHEMERAL), 6, 7 (edit), 8 (data.choices),
        9 (data: the modal). Returns the answer's message (4, 5, 7).

        Raises Unknown (10062: wrong token, or open for more than 3 s), Invalid (40060: already answered).
        """
        raise NotImplementedError

    def interaction_by_token(self, application_id: int, token: str) -> Interaction:
        """Raises Unknown (10015), Invalid (50027: older than 15 min)."""
        raise NotImplementedError

    def original(self, application_id: int, token: str) -> Message:
        """The answer's message. Raises Unknown (10008) when there is none."""
        raise NotImplementedError

    def edit_original(self, application_id: int, token: str, edit: MessageEdit) -> Message:
        """The first edit of a deferred answer makes it the answer."""
        raise NotImplementedError

    def delete_original(self, application_id: int, token: str) -> None:
        raise NotImplementedError

    def followup(self, application_id: int, token: str, draft: MessageDraft) -> Message:
        """Another message; the first after a deferral (5) becomes the answer itself."""
        raise NotImplementedError

    def edit_followup(
        self, application_id: int, token: str, message_id: int, edit: MessageEdit
    ) -> Message:
        raise NotImplementedError

    def delete_followup(self, application_id: int, token: str, message_id: int) -> None:
        raise NotImplementedError

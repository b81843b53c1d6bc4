"""What there is: people, servers, channels, messages. Values without behaviour.

They are frozen: a change makes a new one, which is stored before anyone sees it. Ids are integers here and decimal
strings in payloads; times are wall-clock milliseconds. Must not know payloads, rules or the store.
"""

from clankie.sim.world.entities.drafts import AllowedMentions, MessageDraft, MessageEdit, Upload
from clankie.sim.world.entities.interactions import (
    Command,
    Interaction,
    InteractionState,
    InteractionType,
)
from clankie.sim.world.entities.messages import (
    Attachment,
    CommandUse,
    Message,
    MessageFlag,
    MessageType,
    Reaction,
    Reference,
    ReferenceKind,
    Snapshot,
    Sticker,
    Webhook,
)
from clankie.sim.world.entities.people import Application, SessionStartLimit, User
from clankie.sim.world.entities.places import (
    THREADS,
    Channel,
    ChannelType,
    Emoji,
    ForumTag,
    Guild,
    Member,
    Overwrite,
    OverwriteType,
    Role,
    ThreadMember,
    ThreadState,
)

__all__ = [
    "THREADS",
    "AllowedMentions",
    "Application",
    "Attachment",
    "Channel",
    "ChannelType",
    "Command",
    "CommandUse",
    "Emoji",
    "ForumTag",
    "Guild",
    "Interaction",
    "InteractionState",
    "InteractionType",
    "Member",
    "Message",
    "MessageDraft",
    "MessageEdit",
    "MessageFlag",
    "MessageType",
    "Overwrite",
    "OverwriteType",
    "Reaction",
    "Reference",
    "ReferenceKind",
    "Role",
    "SessionStartLimit",
    "Snapshot",
    "Sticker",
    "ThreadMember",
    "ThreadState",
    "Upload",
    "User",
    "Webhook",
]

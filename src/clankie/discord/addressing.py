"""Whom a message addresses: facts from its live words and from what it answers, before any policy.

Owns what counts as an address. Must not know payloads' other fields, or what follows from it.
"""

from collections.abc import Mapping

from msgspec.structs import replace

from clankie.discord.facts import Fact, Surroundings
from clankie.discord.inbound import Addressed, InboundMessage, Reply, ReplyState
from clankie.discord.markup import Inert, Markup, Mention, MentionKind


class Us(Fact, frozen=True, kw_only=True):
    """The bot as one server knows it: its account, and the role Discord made for it there."""

    user_id: str
    role_id: str | None

    @classmethod
    def in_guild(cls, guild_id: str | None, around: Surroundings) -> "Us":
        """The bot in a server, or in a DM (None)."""
        role = around.managed_roles.get(guild_id) if guild_id is not None else None
        return cls(user_id=around.bot_user_id, role_id=role)

    def meant_by(self, mention: Mention) -> bool:
        """Whether a mention is of the bot, or of its own role."""
        if mention.kind is MentionKind.USER:
            return mention.id == self.user_id
        return mention.kind is MentionKind.ROLE and mention.id == self.role_id


def addressed_in(markup: Markup, us: Us, counted: Mapping[str, str] | None) -> Addressed:
    """Whom the words address.

    Args:
        markup: of the author's words.
        us: the bot there.
        counted: the users whose mention Discord counts, by id; None when it does not say. A mention of the bot that
            is written and not counted was suppressed. Its role counts as written: for a role that members may
            not ping, Discord's own list stays empty though the client offered it.
    """
    user = role = inert = others = False
    for mention in markup.mentions:
        live = mention.inert is None
        if not us.meant_by(mention):
            others = others or (live and mention.kind is not MentionKind.CHANNEL)
        elif not live:
            inert = True
        elif mention.kind is MentionKind.ROLE:
            role = True
        else:
            user = user or counted is None or us.user_id in counted
    return Addressed(user=user, role=role, inert=inert, others=others)


def pinged_by_reply(markup: Markup, us: Us, counted: Mapping[str, str] | None) -> bool:
    """Whether Discord counts a mention of the bot that is not written: the ping of a reply."""
    written = any(each.kind is MentionKind.USER and us.meant_by(each) for each in markup.mentions)
    return counted is not None and us.user_id in counted and not written


def answering(message: InboundMessage, reply: Reply, *, pinged: bool) -> InboundMessage:
    """The message with what it answers, and whom it addresses by that.

    Fails closed: what it answers being unknown or deleted, it answers us only if Discord pinged us for it.
    """
    ours: bool | None = False
    others = False
    if reply.state is ReplyState.PRESENT and reply.target is not None:
        ours = reply.target.from_self
        others = not ours and reply.target.author.id != message.author.id
    elif reply.state is not ReplyState.NONE:
        ours = True if pinged else None
    addressed = replace(
        message.addressed,
        reply=ours,
        reply_pinged=bool(ours) and pinged,
        others=message.addressed.others or others,
    )
    return replace(message, reply=reply, addressed=addressed)


def shown_as_mention(mention: Mention) -> bool:
    """Whether Discord shows it as a mention at all: a quoted one is shown, and addresses nobody."""
    return mention.inert in {None, Inert.QUOTE}

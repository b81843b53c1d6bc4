"""What a caller is shown of a message, a channel, a list of threads.

Owns what depends on who asks: whose reaction is one's own, which side of a direct conversation the other one is, and
that an application without the Message Content intent reads no content here either. Must not know routes.
"""

from collections.abc import Iterable
from typing import Any

from clankie.sim import payloads
from clankie.sim.content_rules import blanked, needs_blanking
from clankie.sim.rest.call import Api, Call
from clankie.sim.world.entities import Channel, Message
from clankie.sim.world.permissions import Intent


def shown(api: Api, call: Call, message: Message) -> dict[str, Any]:
    """A message's payload for the caller; for a webhook, which nobody signed in for, all of it."""
    payload = payloads.message(api.world.tables, message, call.caller.user_id)
    application = call.caller.application
    if (
        application is None
        or message.guild_id is None
        or Intent.MESSAGE_CONTENT in application.privileged
        or not needs_blanking(payload, application.bot_user_id)
    ):
        return payload
    return blanked(payload, application.bot_user_id)


def shown_channel(api: Api, call: Call, channel: Channel) -> dict[str, Any]:
    """A channel's payload for the caller: of a thread with their membership, of a DM the other one."""
    tables = api.world.tables
    if channel.is_thread:
        return payloads.active_thread(tables, channel, call.actor_id)
    payload = payloads.channel(tables, channel)
    if channel.guild_id is None:
        own = str(call.actor_id)
        payload["recipients"] = [each for each in payload["recipients"] if each["id"] != own]
    return payload


def shown_threads(api: Api, call: Call, threads: Iterable[Channel]) -> dict[str, Any]:
    """Threads, and the caller's memberships of them."""
    listed = [shown_channel(api, call, each) for each in threads]
    return {
        "threads": listed,
        "members": [each["member"] for each in listed if "member" in each],
    }

"""Voice states, as far as they are told: who says they are in which voice channel. There is no voice here.

Owns that one event; nothing is kept. Must not know sound.
"""

from typing import Any

from clankie.sim import payloads
from clankie.sim.world.permissions import Intent, Permissions
from clankie.sim.world.responses import Responses


class Voice(Responses):
    """Voice states."""

    def set_voice_state(
        self, actor_id: int, guild_id: int, channel_id: int | None, session_id: str
    ) -> None:
        """Say that a member is in a voice channel, or in none.

        Args:
            session_id: of the gateway session that says so.

        Raises:
            Unknown: 10003, 10004, 10007.
            Forbidden: 50001; 50013 without CONNECT.
        """
        member = self.tables.member(guild_id, actor_id)
        if channel_id is not None:
            self.require(actor_id, channel_id, Permissions.CONNECT)
        data: dict[str, Any] = {
            "guild_id": str(guild_id),
            "channel_id": None if channel_id is None else str(channel_id),
            "user_id": str(actor_id),
            "member": payloads.member_with_user(self.tables, member),
            "session_id": session_id,
            "deaf": False,
            "mute": False,
            "self_deaf": False,
            "self_mute": False,
            "self_video": False,
            "suppress": False,
            "request_to_speak_timestamp": None,
        }
        self._publish(
            "VOICE_STATE_UPDATE",
            data,
            Intent.GUILD_VOICE_STATES,
            guild_id=guild_id,
            channel_id=channel_id,
        )

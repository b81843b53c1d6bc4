"""Webhooks of channels: names that post without being anyone.

Owns making and using them. A webhook's id is its author id, and the actor's when it edits or deletes. Must not know
interactions, whose answers are posted by the bot itself.
"""

import hmac

from clankie.sim.errors import (
    INVALID_WEBHOOK_TOKEN,
    MESSAGES,
    UNKNOWN_CHANNEL,
    UNKNOWN_WEBHOOK,
    WRONG_CHANNEL_TYPE,
    ApiError,
    Invalid,
    Unknown,
    field_error,
)
from clankie.sim.world.drafts import Posting
from clankie.sim.world.entities import ChannelType, Message, MessageDraft, Webhook
from clankie.sim.world.permissions import Intent, Permissions
from clankie.sim.world.threads import Threads

MAX_NAME = 80
"""Code points of a webhook's name."""


class Webhooks(Threads):
    """Webhooks."""

    def create_webhook(self, actor_id: int, channel_id: int, name: str) -> Webhook:
        """A webhook with a token.

        Raises:
            Unknown: 10003.
            Forbidden: 50001; 50013 without MANAGE_WEBHOOKS.
            Invalid: 50024: not in this kind of channel; 50035.
        """
        channel = self.require(actor_id, channel_id, Permissions.MANAGE_WEBHOOKS)
        if channel.guild_id is None or channel.is_thread or channel.type is ChannelType.CATEGORY:
            raise Invalid(WRONG_CHANNEL_TYPE)
        if not 1 <= len(name.strip()) <= MAX_NAME:
            raise field_error(
                "name", "BASE_TYPE_BAD_LENGTH", f"Must be between 1 and {MAX_NAME} in length."
            )
        application = self.application_of_bot(actor_id)
        webhook = Webhook(
            id=self._ids.next(),
            channel_id=channel_id,
            guild_id=channel.guild_id,
            name=name.strip(),
            token=self._secret(68),
            creator_id=actor_id,
            application_id=None if application is None else application.id,
        )
        self._commit(webhook)
        self._publish_webhooks(webhook)
        return webhook

    def webhook(self, webhook_id: int, token: str | None = None) -> Webhook:
        """A webhook, by its token if one is given.

        Raises:
            Unknown: 10015.
            ApiError: 50027 (401): another token.
        """
        webhook = self.tables.webhooks.get(webhook_id)
        if webhook is None:
            raise Unknown(UNKNOWN_WEBHOOK)
        if token is not None and not hmac.compare_digest(webhook.token.encode(), token.encode()):
            raise ApiError(401, INVALID_WEBHOOK_TOKEN, MESSAGES[INVALID_WEBHOOK_TOKEN])
        return webhook

    def webhooks(self, channel_id: int) -> list[Webhook]:
        """A channel's, oldest first. Asks for no permission."""
        return [each for each in self.tables.webhooks.values() if each.channel_id == channel_id]

    def delete_webhook(self, webhook_id: int) -> None:
        """Remove it; what it posted stays. Raises Unknown (10015)."""
        webhook = self.webhook(webhook_id)
        self._commit(drop=[webhook])
        self._publish_webhooks(webhook)

    def execute_webhook(
        self,
        webhook_id: int,
        draft: MessageDraft,
        *,
        username: str | None = None,
        thread_id: int | None = None,
    ) -> Message:
        """Post as the webhook. Its mentions, files and embeds need no permission.

        Raises:
            Unknown: 10015; 10003: no such thread in its channel.
            Invalid: 50006, 50035.
            ApiError: 40005 (413).
        """
        webhook = self.webhook(webhook_id)
        place = webhook.channel_id
        if thread_id is not None:
            if thread_id not in self.tables.threads_of_channel.get(place, ()):
                raise Unknown(UNKNOWN_CHANNEL)
            place = thread_id
        channel = self.tables.channel(place)
        self._check_place(channel)
        posting = Posting(
            webhook_id,
            Permissions.ALL,
            webhook_id=webhook_id,
            application_id=webhook.application_id,
            author_name=username or webhook.name,
        )
        return self._post(channel, draft, posting)

    def _publish_webhooks(self, webhook: Webhook) -> None:
        data = {"guild_id": str(webhook.guild_id), "channel_id": str(webhook.channel_id)}
        self._publish(
            "WEBHOOKS_UPDATE",
            data,
            Intent.GUILD_WEBHOOKS,
            guild_id=webhook.guild_id,
            channel_id=webhook.channel_id,
        )

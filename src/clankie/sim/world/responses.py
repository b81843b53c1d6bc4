"""How interactions are answered.

    OPEN      --4 message, 7 update, 8 choices, 9 form-->  ANSWERED
    OPEN      --5 promise, 6 promise to update-->          DEFERRED
    DEFERRED  --the first edit or followup-->              ANSWERED

An open one may be answered for 3 s; a token is good for 15 min. Owns that table. Must not know HTTP.
"""

import hmac
from typing import Any, Final

from msgspec.structs import replace

from clankie.sim.errors import (
    ALREADY_ACKNOWLEDGED,
    INVALID_WEBHOOK_TOKEN,
    MESSAGES,
    UNKNOWN_INTERACTION,
    UNKNOWN_MESSAGE,
    UNKNOWN_WEBHOOK,
    ApiError,
    Invalid,
    Unknown,
    field_error,
)
from clankie.sim.world.drafts import Posting
from clankie.sim.world.entities import (
    CommandUse,
    Interaction,
    InteractionState,
    InteractionType,
    Message,
    MessageDraft,
    MessageEdit,
    MessageFlag,
    MessageType,
)
from clankie.sim.world.interactions import Interactions
from clankie.sim.world.permissions import Permissions

ANSWER_MS: Final = 3_000
"""For the first answer (Discord's documentation, "Receiving and Responding")."""
TOKEN_MS: Final = 15 * 60_000
"""For edits and followups."""
MESSAGE, DEFER, DEFER_UPDATE, UPDATE, CHOICES, MODAL = 4, 5, 6, 7, 8, 9

_MESSAGES: Final = {MESSAGE, DEFER}
_KINDS: Final = {
    InteractionType.COMMAND: _MESSAGES | {MODAL},
    InteractionType.COMPONENT: _MESSAGES | {DEFER_UPDATE, UPDATE, MODAL},
    InteractionType.AUTOCOMPLETE: {CHOICES},
    InteractionType.MODAL: _MESSAGES | {DEFER_UPDATE, UPDATE},
}
"""Which answers fit which interaction."""
_IMPLIED: Final = Permissions.EMBED_LINKS | Permissions.ATTACH_FILES | Permissions.SEND_POLLS
"""What an answer may hold whatever the bot may do in the channel."""


class Responses(Interactions):
    """Answers to interactions."""

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
        """Answer for the first time.

        Args:
            kind: Discord's callback type.
            draft: the message (4); of a promise (5), only whether its flags say EPHEMERAL.
            edit: how the component's message changes (7).
            data: `choices` (8) or the form (9).

        Returns:
            The message that is or will be the answer; None for 8 and 9.

        Raises:
            Unknown: 10062: wrong token, or over 3 s.
            Invalid: 40060: it was answered; 50035: no such answer to this; else as for a message.
        """
        interaction = self.tables.interactions.get(interaction_id)
        if interaction is None or not _equal(interaction.token, token):
            raise Unknown(UNKNOWN_INTERACTION)
        if interaction.state is not InteractionState.OPEN:
            raise Invalid(ALREADY_ACKNOWLEDGED)
        if self.clock.now_ms() - interaction.created_at_ms > ANSWER_MS:
            raise Unknown(UNKNOWN_INTERACTION)
        updates = kind in {UPDATE, DEFER_UPDATE} and interaction.message_id is None
        if kind not in _KINDS[interaction.type] or updates:
            raise field_error("type", "BASE_TYPE_CHOICES", "Not an answer to this interaction.")
        if kind in {CHOICES, MODAL}:
            self._answer_with_data(interaction, kind, data or {})
            return None
        if kind in {UPDATE, DEFER_UPDATE}:
            return self._answer_by_update(interaction, edit if kind == UPDATE else None)
        draft = draft or MessageDraft()
        if kind == MESSAGE:
            answer = self._post_answer(interaction, draft)
            self._set_state(interaction, InteractionState.ANSWERED, answer)
            return answer
        promise = self._promise(interaction, ephemeral=bool(draft.flags & MessageFlag.EPHEMERAL))
        self._add(promise)
        self._set_state(interaction, InteractionState.DEFERRED, promise)
        return promise

    def interaction_by_token(self, application_id: int, token: str) -> Interaction:
        """An interaction that was acknowledged, by its token.

        Raises:
            Unknown: 10015: no such token of this application, or not acknowledged.
            ApiError: 50027 (401): older than 15 min.
        """
        found = self.tables.interaction_by_token.get(token)
        interaction = None if found is None else self.tables.interactions[found]
        if interaction is None or interaction.application_id != application_id:
            raise Unknown(UNKNOWN_WEBHOOK)
        if self.clock.now_ms() - interaction.created_at_ms > TOKEN_MS:
            raise ApiError(401, INVALID_WEBHOOK_TOKEN, MESSAGES[INVALID_WEBHOOK_TOKEN])
        if interaction.state is InteractionState.OPEN:
            raise Unknown(UNKNOWN_WEBHOOK)
        return interaction

    def original(self, application_id: int, token: str) -> Message:
        """The answer. Raises Unknown (10015; 10008: there is none), ApiError (50027)."""
        interaction = self.interaction_by_token(application_id, token)
        return self._message_of(interaction, interaction.response_id)

    def edit_original(self, application_id: int, token: str, edit: MessageEdit) -> Message:
        """Change the answer; of a promise, keep it.

        Raises:
            Unknown: 10015, 10008.
            Invalid: 50006, 50035.
            ApiError: 50027 (401), 40005 (413).
        """
        interaction = self.interaction_by_token(application_id, token)
        message = self._message_of(interaction, interaction.response_id)
        after = self._edit(self._kept(message), edit, self._granted(interaction))
        self._set_state(interaction, InteractionState.ANSWERED)
        return after

    def delete_original(self, application_id: int, token: str) -> None:
        """Remove the answer. Raises Unknown (10015, 10008), ApiError (50027)."""
        self._delete_answer(self.original(application_id, token))

    def followup(self, application_id: int, token: str, draft: MessageDraft) -> Message:
        """Say more; the first after a promise (5) keeps it.

        Raises:
            Unknown: 10015.
            Invalid: 50006, 50035.
            ApiError: 50027 (401), 40005 (413).
        """
        interaction = self.interaction_by_token(application_id, token)
        promise = self.tables.peek(interaction.channel_id, interaction.response_id or 0)
        if promise is None or not promise.flags & MessageFlag.LOADING:
            return self._post_answer(interaction, draft)
        channel = self.tables.channels[interaction.channel_id]
        posting = self._posting(
            interaction, ephemeral=promise.seen_by is not None, message_id=promise.id
        )
        message, files = self._drafted(channel, draft, posting)
        message = replace(message, created_at_ms=promise.created_at_ms)
        self._commit(message, files=files)
        self._set_state(interaction, InteractionState.ANSWERED)
        self._publish_message("MESSAGE_UPDATE", message)
        return message

    def followup_message(self, application_id: int, token: str, message_id: int) -> Message:
        """A message of this interaction. Raises Unknown (10015, 10008), ApiError (50027)."""
        interaction = self.interaction_by_token(application_id, token)
        return self._message_of(interaction, message_id)

    def edit_followup(
        self, application_id: int, token: str, message_id: int, edit: MessageEdit
    ) -> Message:
        """Change a message of this interaction.

        Raises:
            Unknown: 10015, 10008.
            Invalid: 50006, 50035.
            ApiError: 50027 (401), 40005 (413).
        """
        interaction = self.interaction_by_token(application_id, token)
        if message_id == interaction.response_id:
            return self.edit_original(application_id, token, edit)
        message = self._message_of(interaction, message_id)
        return self._edit(message, edit, self._granted(interaction))

    def delete_followup(self, application_id: int, token: str, message_id: int) -> None:
        """Remove a message of this interaction. Raises Unknown (10015, 10008), ApiError (50027)."""
        self._delete_answer(self.followup_message(application_id, token, message_id))

    def _answer_with_data(self, interaction: Interaction, kind: int, data: dict[str, Any]) -> None:
        answered = replace(interaction, state=InteractionState.ANSWERED)
        if kind == MODAL:
            self._commit(replace(answered, modal=data))
        else:
            self._commit(replace(answered, choices=tuple(data.get("choices") or ())))

    def _answer_by_update(self, interaction: Interaction, edit: MessageEdit | None) -> Message:
        message = self.tables.message(interaction.channel_id, interaction.message_id or 0)
        if edit is None:
            self._set_state(interaction, InteractionState.DEFERRED, message)
            return message
        after = self._edit(message, edit, self._granted(interaction))
        self._set_state(interaction, InteractionState.ANSWERED, after)
        return after

    def _post_answer(self, interaction: Interaction, draft: MessageDraft) -> Message:
        channel = self.tables.channels[interaction.channel_id]
        ephemeral = bool(draft.flags & MessageFlag.EPHEMERAL)
        return self._post(channel, draft, self._posting(interaction, ephemeral=ephemeral))

    def _promise(self, interaction: Interaction, *, ephemeral: bool) -> Message:
        """The message that shows a bot thinking."""
        posting = self._posting(interaction, ephemeral=ephemeral)
        return Message(
            id=self._ids.next(),
            channel_id=interaction.channel_id,
            guild_id=interaction.guild_id,
            author_id=posting.author_id,
            created_at_ms=self.clock.now_ms(),
            type=posting.type or MessageType.DEFAULT,
            flags=posting.flags | MessageFlag.LOADING,
            webhook_id=posting.webhook_id,
            application_id=posting.application_id,
            command=posting.command,
            seen_by=posting.seen_by,
        )

    def _posting(
        self,
        interaction: Interaction,
        *,
        ephemeral: bool,
        message_id: int | None = None,
    ) -> Posting:
        is_command = interaction.type is InteractionType.COMMAND
        slash = is_command and interaction.data.get("type") == 1
        application = self.tables.applications[interaction.application_id]
        kind = MessageType.SLASH_COMMAND if slash else MessageType.CONTEXT_MENU
        return Posting(
            application.bot_user_id,
            self._granted(interaction),
            webhook_id=application.id,
            application_id=application.id,
            type=kind if is_command else MessageType.DEFAULT,
            command=CommandUse(
                interaction.id,
                int(interaction.type),
                str(interaction.data.get("name", "")) if is_command else "",
                interaction.user_id,
            ),
            seen_by=interaction.user_id if ephemeral else None,
            message_id=message_id,
            flags=MessageFlag.EPHEMERAL if ephemeral else MessageFlag.NONE,
        )

    def _granted(self, interaction: Interaction) -> Permissions:
        bot_id = self.tables.applications[interaction.application_id].bot_user_id
        return self.permissions_in(bot_id, interaction.channel_id) | _IMPLIED

    def _set_state(
        self, interaction: Interaction, state: InteractionState, response: Message | None = None
    ) -> None:
        current = self.tables.interactions[interaction.id]
        response_id = current.response_id if response is None else response.id
        if (current.state, current.response_id) != (state, response_id):
            self._commit(replace(current, state=state, response_id=response_id))

    def _message_of(self, interaction: Interaction, message_id: int | None) -> Message:
        """A message that this interaction brought, or the one whose component was used."""
        message = self.tables.peek(interaction.channel_id, message_id or 0)
        if message is None or (
            message.id != interaction.response_id
            and (message.command is None or message.command.interaction_id != interaction.id)
        ):
            raise Unknown(UNKNOWN_MESSAGE)
        return message

    def _kept(self, message: Message) -> Message:
        """A promise is a promise no more."""
        return replace(message, flags=message.flags & ~MessageFlag.LOADING)

    def _delete_answer(self, message: Message) -> None:
        self._remove([message])
        data = {"id": str(message.id), **self._place(message)}
        self._publish_message_event("MESSAGE_DELETE", message, data)


def _equal(left: str, right: str) -> bool:
    return hmac.compare_digest(left.encode(), right.encode())

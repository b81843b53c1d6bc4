"""A channel's webhooks: making them, and posting through them. Their token in the path says enough.

An application's id in place of a webhook's means an interaction's answer: `followups` does those.
"""

from typing import Any, Final

from clankie.sim.errors import MISSING_ACCESS, UNKNOWN_MESSAGE, ApiError, Forbidden, Unknown
from clankie.sim.rest.call import Api, Call, Handle, Method, Route
from clankie.sim.rest.drafts import draft_of, edit_of
from clankie.sim.rest.forms import flag, invalid, optional_snowflake, text
from clankie.sim.rest.limits import WEBHOOK
from clankie.sim.rest.routes import followups
from clankie.sim.rest.shown import shown
from clankie.sim.world.entities import Message, Webhook
from clankie.sim.world.permissions import Permissions

MAX_NAME: Final = 80
"""Code points of a webhook's name, or of the one it posts under."""


def _payload(webhook: Webhook) -> dict[str, Any]:
    payload = _public(webhook)
    payload["token"] = webhook.token
    return payload


def _public(webhook: Webhook) -> dict[str, Any]:
    return {
        "id": str(webhook.id),
        "type": 1,
        "guild_id": str(webhook.guild_id),
        "channel_id": str(webhook.channel_id),
        "name": webhook.name,
        "avatar": webhook.avatar,
        "application_id": None if webhook.application_id is None else str(webhook.application_id),
    }


def create(api: Api, call: Call) -> Any:
    name = text(call.fields, "name", most=MAX_NAME, least=1, required=True) or ""
    return _payload(api.world.create_webhook(call.actor_id, call.id("channel_id"), name))


def list_of_channel(api: Api, call: Call) -> Any:
    channel = api.world.require(call.actor_id, call.id("channel_id"), Permissions.MANAGE_WEBHOOKS)
    return [_payload(each) for each in api.world.webhooks(channel.id)]


def list_of_guild(api: Api, call: Call) -> Any:
    guild_id = call.id("guild_id")
    if Permissions.MANAGE_WEBHOOKS not in api.world.guild_permissions(call.actor_id, guild_id):
        raise Forbidden(MISSING_ACCESS)
    return [
        _payload(webhook)
        for channel in api.world.channels(guild_id)
        for webhook in api.world.webhooks(channel.id)
    ]


def get(api: Api, call: Call) -> Any:
    return _payload(_managed(api, call))


def delete(api: Api, call: Call) -> None:
    api.world.delete_webhook(_managed(api, call).id)


def _managed(api: Api, call: Call) -> Webhook:
    webhook = api.world.webhook(call.id("webhook_id"))
    api.world.require(call.actor_id, webhook.channel_id, Permissions.MANAGE_WEBHOOKS)
    return webhook


def get_with_token(api: Api, call: Call) -> Any:
    return _payload(_own(api, call))


def delete_with_token(api: Api, call: Call) -> None:
    api.world.delete_webhook(_own(api, call).id)


def execute(api: Api, call: Call) -> Any:
    webhook = _own(api, call)
    draft = draft_of(call.fields, call.files)
    if draft.reference is not None:
        raise invalid(
            ("message_reference",), "WEBHOOK_CANNOT_REPLY", "Webhooks can not reply to messages."
        )
    message = api.world.execute_webhook(
        webhook.id,
        draft,
        username=text(call.fields, "username", most=MAX_NAME, least=1),
        thread_id=optional_snowflake(call.query, "thread_id"),
    )
    return shown(api, call, message) if flag(call.query, "wait") else None


def get_message(api: Api, call: Call) -> Any:
    return shown(api, call, _message(api, call))


def edit_message(api: Api, call: Call) -> Any:
    message = _message(api, call)
    changes = edit_of(call.fields, call.files)
    edited = api.world.edit_message(message.author_id, message.channel_id, message.id, changes)
    return shown(api, call, edited)


def delete_message(api: Api, call: Call) -> None:
    message = _message(api, call)
    api.world.delete_message(message.author_id, message.channel_id, message.id)


def _message(api: Api, call: Call) -> Message:
    """One of the webhook's own messages; of others it knows nothing."""
    webhook = _own(api, call)
    channel_id = optional_snowflake(call.query, "thread_id") or webhook.channel_id
    message = api.world.message(channel_id, call.id("message_id"))
    if message.webhook_id != webhook.id:
        raise Unknown(UNKNOWN_MESSAGE)
    return message


def _own(api: Api, call: Call) -> Webhook:
    return api.world.webhook(call.id("webhook_id"), call.path["token"])


def _either(of_interaction: Handle, of_channel: Handle) -> Handle:
    """Whichever the id in the path is of."""

    def handle(api: Api, call: Call) -> Any:
        try:
            api.world.application(call.id("webhook_id"))
        except ApiError as error:
            if error.status != 404:
                raise
            return of_channel(api, call)
        return of_interaction(api, call)

    return handle


_OWN: Final = "/webhooks/{webhook_id:str}/{token:str}"
_MESSAGE: Final = _OWN + "/messages/{message_id:str}"
_MAJOR: Final = ("webhook_id", "token")
_PUBLIC: Final[tuple[tuple[Method, str, Handle], ...]] = (
    ("GET", _OWN, get_with_token),
    ("DELETE", _OWN, delete_with_token),
    ("POST", _OWN, _either(followups.send, execute)),
    ("GET", _MESSAGE, _either(followups.get, get_message)),
    ("PATCH", _MESSAGE, _either(followups.edit, edit_message)),
    ("DELETE", _MESSAGE, _either(followups.delete, delete_message)),
)
ROUTES: Final = (
    Route("POST", "/channels/{channel_id:str}/webhooks", create, major=("channel_id",)),
    Route("GET", "/channels/{channel_id:str}/webhooks", list_of_channel, major=("channel_id",)),
    Route("GET", "/guilds/{guild_id:str}/webhooks", list_of_guild, major=("guild_id",)),
    Route("GET", "/webhooks/{webhook_id:str}", get, major=("webhook_id",)),
    Route("DELETE", "/webhooks/{webhook_id:str}", delete, major=("webhook_id",)),
    *(
        Route(method, path, handle, WEBHOOK, _MAJOR, open_to_all=True)
        for method, path, handle in _PUBLIC
    ),
)

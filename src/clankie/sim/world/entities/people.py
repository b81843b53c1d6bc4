"""Users and applications.

Values without behaviour. Must not know payloads, rules or the store.
"""

from msgspec import Struct

from clankie.sim.world.permissions import Intent


class User(Struct, frozen=True, omit_defaults=True):
    """A person or a bot.

    Attributes:
        avatar: a hash that the CDN knows, or None for a default picture.
        dms_open: whether someone who shares a server may write to them (else 50007).
    """

    id: int
    username: str
    global_name: str | None = None
    avatar: str | None = None
    bot: bool = False
    system: bool = False
    dms_open: bool = True


class Application(Struct, frozen=True, omit_defaults=True):
    """A bot's application. Its token and client secret are secrets: they show in no repr.

    Attributes:
        privileged: which privileged intents it may ask for.
        starts: session starts since the count was last reset.
        starts_reset_at_ms: when the count is next reset; 0 before the first start.
        redirect_uris: where OAuth2 may send people back to.
    """

    id: int
    name: str
    bot_user_id: int
    token: str
    client_secret: str
    owner_id: int
    verify_key: str
    description: str = ""
    privileged: Intent = Intent.NONE
    starts: int = 0
    starts_reset_at_ms: int = 0
    redirect_uris: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"Application(id={self.id})"


class SessionStartLimit(Struct, frozen=True):
    """How many gateway sessions an application may still start today."""

    total: int
    remaining: int
    reset_after_ms: int
    max_concurrency: int

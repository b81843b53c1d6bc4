"""Applications, their bots, tokens, and how many gateway sessions they may start.

Owns the counting of session starts. Must not know sessions.
"""

import base64
from collections.abc import Iterable
from typing import Final

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from clankie.sim.world.entities import Application, SessionStartLimit
from clankie.sim.world.people import People
from clankie.sim.world.permissions import Intent

STARTS_PER_DAY: Final = 1_000
"""Sessions that an application may start (Discord's documentation, "Session Start Limit Object")."""
DAY_MS: Final = 86_400_000
MAX_CONCURRENCY: Final = 1
"""Sessions that may be started at once, as told; that they come 5 s apart is not asked for."""


class Applications(People):
    """Applications and their bots. A bot's user id is its application's id, as for every newer one of Discord's."""

    def create_application(
        self,
        name: str,
        owner_id: int,
        *,
        privileged: Intent = Intent.PRIVILEGED,
        redirect_uris: Iterable[str] = (),
    ) -> Application:
        """An application with a bot, a bot token and a client secret.

        Args:
            privileged: which privileged intents it may ask for.

        Raises:
            Unknown: 10013, for the owner.
            Invalid: 50035, for an empty or overlong name.
        """
        self.user(owner_id)
        bot = self._create_user(name, name, bot=True, user_id=self._ids.next())
        application = Application(
            id=bot.id,
            name=name.strip(),
            bot_user_id=bot.id,
            token=self._bot_token(bot.id),
            client_secret=self._secret(32),
            owner_id=owner_id,
            verify_key=self._random_bytes(32).hex(),
            privileged=privileged & Intent.PRIVILEGED,
            redirect_uris=tuple(redirect_uris),
        )
        self._commit(bot, application)
        return application

    def application(self, application_id: int) -> Application:
        """Raises Unknown (10002)."""
        return self.tables.application(application_id)

    def applications(self) -> list[Application]:
        """All, oldest first."""
        return list(self.tables.applications.values())

    def application_by_token(self, token: str) -> Application | None:
        """Whose bot token it is."""
        found = self.tables.application_by_token.get(token)
        return None if found is None else self.tables.applications[found]

    def application_of_bot(self, user_id: int) -> Application | None:
        """The application whose bot the user is."""
        found = self.tables.application_by_bot.get(user_id)
        return None if found is None else self.tables.applications[found]

    def edit_application(
        self,
        application_id: int,
        *,
        name: str | UnsetType = UNSET,
        description: str | UnsetType = UNSET,
        privileged: Intent | UnsetType = UNSET,
        redirect_uris: Iterable[str] | UnsetType = UNSET,
    ) -> Application:
        """Change it. What a running session was granted stays its own until it identifies again.

        Raises:
            Unknown: 10002.
        """
        before = self.application(application_id)
        after = replace(
            before,
            name=before.name if name is UNSET else name,
            description=before.description if description is UNSET else description,
            privileged=before.privileged if privileged is UNSET else privileged & Intent.PRIVILEGED,
            redirect_uris=before.redirect_uris if redirect_uris is UNSET else tuple(redirect_uris),
        )
        self._commit(after)
        return after

    def reset_token(self, application_id: int) -> Application:
        """A new bot token. The old one is refused from now on; its gateway sessions end with 4004.

        Raises:
            Unknown: 10002.
        """
        before = self.application(application_id)
        after = replace(before, token=self._bot_token(before.bot_user_id))
        self._commit(after)
        return after

    def session_start_limit(self, application_id: int) -> SessionStartLimit:
        """What is left of the day's session starts.

        Raises:
            Unknown: 10002.
        """
        application = self._with_current_starts(application_id)
        now_ms = self.clock.now_ms()
        return SessionStartLimit(
            total=STARTS_PER_DAY,
            remaining=max(0, STARTS_PER_DAY - application.starts),
            reset_after_ms=max(0, application.starts_reset_at_ms - now_ms),
            max_concurrency=MAX_CONCURRENCY,
        )

    def set_session_starts_left(self, application_id: int, remaining: int) -> None:
        """Let only so many starts remain today: to see what a bot does about it.

        Raises:
            Unknown: 10002.
        """
        application = self._with_current_starts(application_id)
        starts = STARTS_PER_DAY - min(max(0, remaining), STARTS_PER_DAY)
        self._commit(
            replace(
                application,
                starts=starts,
                starts_reset_at_ms=application.starts_reset_at_ms or self.clock.now_ms() + DAY_MS,
            )
        )

    def spend_session_start(self, application_id: int) -> bool:
        """Count one start. False, and nothing counted, when none is left.

        Raises:
            Unknown: 10002.
        """
        application = self._with_current_starts(application_id)
        if application.starts >= STARTS_PER_DAY:
            return False
        reset = application.starts_reset_at_ms or self.clock.now_ms() + DAY_MS
        self._commit(replace(application, starts=application.starts + 1, starts_reset_at_ms=reset))
        return True

    def _with_current_starts(self, application_id: int) -> Application:
        application = self.application(application_id)
        if application.starts_reset_at_ms <= self.clock.now_ms():
            return replace(application, starts=0, starts_reset_at_ms=0)
        return application

    def _bot_token(self, user_id: int) -> str:
        """Three parts as Discord's: the bot's id, and two that are random here."""
        head = base64.urlsafe_b64encode(str(user_id).encode("ascii")).rstrip(b"=").decode("ascii")
        return f"{head}.{self._secret(6)}.{self._secret(38)}"

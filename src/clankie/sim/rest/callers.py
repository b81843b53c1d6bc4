"""Who a request comes from, by its Authorization header. Must not know routes."""

from collections.abc import Mapping
from typing import Final

from clankie.sim.errors import ApiError
from clankie.sim.rest.call import Caller
from clankie.sim.rest.forms import snowflake
from clankie.sim.rest.oauth2.grants import Grants
from clankie.sim.world.world import World

NO_CODE: Final = 0
"""What Discord puts into refusals that have no number of their own."""
_NOBODY: Final = Caller()


class Callers:
    """Knows bots by their tokens and people by what they allowed an application.

    Args:
        world: the bots.
        grants: the people.
    """

    def __init__(self, world: World, grants: Grants) -> None:
        self._world = world
        self._grants = grants

    def by_header(self, authorization: str | None) -> Caller:
        """Who asks; nobody, without a header.

        Raises:
            ApiError: 401, the header names nobody. Discord tells no reason.
        """
        if authorization is None:
            return _NOBODY
        scheme, _, token = authorization.partition(" ")
        if scheme == "Bot":
            application = self._world.application_by_token(token)
            if application is not None:
                return Caller(application.bot_user_id, application)
        elif scheme == "Bearer":
            grant = self._grants.by_access_token(token)
            if grant is not None:
                application = self._world.application(grant.application_id)
                return Caller(grant.user_id, application, grant.scopes)
        raise unauthorized()

    def application_behind(self, path: Mapping[str, str]) -> int | None:
        """Whose request it is though nobody signed in: an interaction's token stands in the path.

        Returns:
            An application's id; None when there is none behind it, as behind a channel's webhook.
        """
        try:
            if "interaction_id" in path:
                interaction_id = snowflake(path["interaction_id"], ("interaction_id",))
                return self._world.interaction(interaction_id).application_id
            if "webhook_id" in path:
                application_id = snowflake(path["webhook_id"], ("webhook_id",))
                return self._world.application(application_id).id
        except ApiError:
            return None  # the route refuses it in its own words
        return None


def unauthorized() -> ApiError:
    """What Discord answers to nobody."""
    return ApiError(401, NO_CODE, "401: Unauthorized")

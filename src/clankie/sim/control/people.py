"""People, conversations, and applications with their bots. Owns these routes."""

from typing import Annotated, Any

from litestar import get, post
from litestar.params import FromPath, FromQuery, HeaderParameter, JSONBody, QueryParameter
from litestar.response import Stream

from clankie.sim import payloads
from clankie.sim.control.contracts import MadeThing, NewApplication, NewDm, NewPerson
from clankie.sim.control.events import EventLog
from clankie.sim.control.ids import to_id
from clankie.sim.control.messages import CHANNEL, As
from clankie.sim.control.places import BOT_PERMISSIONS
from clankie.sim.control.snapshot import person_of, world_as
from clankie.sim.world.permissions import Intent
from clankie.sim.world.world import World


def people_routes(world: World, log: EventLog) -> list[Any]:
    """The handlers."""
    return [*_watching(world, log), *_making(world, log)]


def _watching(world: World, log: EventLog) -> list[Any]:
    @get("/world", summary="All that a person sees but messages", sync_to_thread=False)
    def get_world(
        person: Annotated[str | None, QueryParameter(name="as", required=False)] = None,
    ) -> dict[str, Any]:
        who = person_of(world, None if person is None else to_id(person))
        return world_as(world, who, log.last_id)

    @get("/events", summary="What happens, as server-sent events", sync_to_thread=False)
    def get_events(
        person: As,
        since: FromQuery[str] = "",
        last: Annotated[str, HeaderParameter(name="last-event-id", required=False)] = "",
    ) -> Stream:
        who = person_of(world, to_id(person))
        return Stream(
            log.stream(who.id, last or since),
            media_type="text/event-stream",
            headers={"cache-control": "no-store"},
        )

    @get(CHANNEL + "/commands", summary="Commands that can be used there", sync_to_thread=False)
    def list_commands(channel_id: FromPath[str], person: As) -> dict[str, Any]:
        who = person_of(world, to_id(person))
        usable = world.usable_commands(who.id, to_id(channel_id))
        return {"commands": [payloads.command(each) for each in usable]}

    return [get_world, get_events, list_commands]


def _making(world: World, log: EventLog) -> list[Any]:
    @post("/people", summary="Make a person", sync_to_thread=False)
    def create_person(data: JSONBody[NewPerson]) -> MadeThing:
        person = world.create_person(data.name)
        if data.guild_id is not None:
            world.join(to_id(data.guild_id), person.id)
        log.note("SIM_PEOPLE")
        return MadeThing(str(person.id))

    @post("/dms", summary="Open a conversation", sync_to_thread=False)
    def open_dm(data: JSONBody[NewDm]) -> MadeThing:
        who = person_of(world, to_id(data.as_))
        return MadeThing(str(world.open_dm(who.id, to_id(data.with_)).id))

    @post("/applications", summary="Make an application with a bot", sync_to_thread=False)
    def create_application(data: JSONBody[NewApplication]) -> dict[str, str]:
        privileged = Intent.NONE
        for wanted, intent in (
            (data.message_content, Intent.MESSAGE_CONTENT),
            (data.members, Intent.GUILD_MEMBERS),
            (data.presences, Intent.GUILD_PRESENCES),
        ):
            privileged |= intent if wanted else Intent.NONE
        owner = person_of(world, to_id(data.as_))
        made = world.create_application(data.name, owner.id, privileged=privileged)
        if data.guild_id is not None:
            world.join(to_id(data.guild_id), made.bot_user_id, permissions=BOT_PERMISSIONS)
        log.note("SIM_APPLICATIONS")
        return {"id": str(made.id), "userId": str(made.bot_user_id), "token": made.token}

    @post("/applications/{application_id:str}/token", summary="A bot's token", sync_to_thread=False)
    def get_token(application_id: FromPath[str]) -> dict[str, str]:
        """A write, though it changes nothing: so that no page elsewhere can ask for it."""
        return {"token": world.application(to_id(application_id)).token}

    return [create_person, open_dm, create_application, get_token]

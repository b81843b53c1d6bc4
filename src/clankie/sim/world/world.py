"""The world: everyone and everything, and all that can be done.

One object with flat methods. Each part of them is a class in a file of its own, which builds on the one before:

    State         tables, store, ids, dispatches            Threads       threads and forum posts
    Access        who may do what where                     Webhooks
    People        people, direct conversations              Commands      application commands
    Applications  bots, tokens, session starts              Interactions  how they begin
    Guilds        servers, members, outages                 Responses     how they are answered; Voice, its states
    Roles, Channels, Messages (on Drafts and Posted), Edits (and pins), Reactions: what their names say

It is used from one event loop, and every method is synchronous. A method that changes something checks what the actor
(a user's id; a bot is a user) may do, raises ApiError with nothing changed, or stores the change, lets it be seen, and
dispatches it to whoever subscribed. Must not know sockets, HTTP or who listens.
"""

from clankie.sim.world.dispatch import Dispatch
from clankie.sim.world.voice import Voice

__all__ = ["Dispatch", "World"]


class World(Voice):
    """Who and what there is.

    Args:
        clock: whose time ids and limits follow.
        random_bytes: tokens come from it.
        store: a file that it survives in (`Store.open(path)`); None: it ends with the process.

    Attributes:
        tables: all records, to be read and shown with `clankie.sim.payloads`; `tables.origin` is to be set to where
            this Discord is reached, as soon as that is known.
    """

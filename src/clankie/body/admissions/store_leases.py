"""Named leases among the replicas of one store: who holds the tunnel.

Owns the rows. A holder asks again well within the time; one that stops asking is replaced when it is over, by the
database's clock. Must not know what a name stands for.
"""

from sqlalchemy import Connection, delete, insert, or_, select, update

from clankie.body.admissions.leases import is_live
from clankie.body.admissions.tables import DatabaseNow, store_leases

_l = store_leases.c


def try_lease(connection: Connection, name: str, fence: int, seconds: float) -> bool:
    """Take or renew the lease for a replica whose own lease is live; False when another holds it.

    Two that insert the first row at once: one meets the other's row, and its transaction is tried again.
    """
    until = DatabaseNow() + round(seconds * 1000)
    if not connection.scalar(select(is_live(fence))):
        return False
    taken = connection.execute(
        update(store_leases)
        .where(_l.name == name, or_(_l.fence == fence, _l.held_until_ms <= DatabaseNow()))
        .values(fence=fence, held_until_ms=until)
    )
    if taken.rowcount:
        return True
    if connection.scalar(select(_l.fence).where(_l.name == name)) is not None:
        return False
    connection.execute(insert(store_leases).values(name=name, fence=fence, held_until_ms=until))
    return True


def release(connection: Connection, fence: int, name: str | None = None) -> None:
    """Give up one lease of a replica, or all of them."""
    mine = delete(store_leases).where(_l.fence == fence)
    connection.execute(mine if name is None else mine.where(_l.name == name))

"""The audit trail: whatever is changed, moved, added or taken out is found, and nothing of anyone's words is in it."""

import itertools
from typing import Any

import pytest

from fleet.support import GUILD, Place, RunningFleet

ENTRIES = 6


@pytest.fixture
async def written(fleet: RunningFleet) -> RunningFleet:
    """A fleet with some entries."""
    for number in range(ENTRIES - 1):
        await fleet.account(f"MARKER-label-{number}")
    return fleet


async def head(fleet: RunningFleet) -> dict[str, Any]:
    return dict(await fleet.admin("audit/verify"))


async def broken(fleet: RunningFleet, **noted: Any) -> str:
    """What the check says is broken."""
    answer = await fleet.try_admin("audit/verify", **noted)
    assert answer.told == (409, "audit_broken"), answer
    assert answer.json["nextStep"]
    return str(answer.json["message"])


async def test_a_whole_trail_is_verified_and_grows(written: RunningFleet) -> None:
    first = await head(written)
    assert first["seq"] == ENTRIES
    await written.account()
    assert (await head(written))["seq"] == ENTRIES + 1
    assert await written.admin("audit/verify", **first)  # what was noted earlier is still in it


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("at_ms", "at_ms + 1"),
        ("actor", "'body:x'"),
        ("action", "'account_removed'"),
        ("subject", "'ac_other'"),
    ],
)
async def test_a_changed_entry_is_found(
    written: RunningFleet, place: Place, column: str, value: str
) -> None:
    changed = f"UPDATE fleet_audit SET {column} = {value} WHERE seq = 3"  # noqa: S608 - the test's own
    place.sql(changed)
    assert "entry 3 " in await broken(written)


async def test_an_entry_that_was_taken_out_moved_or_added_is_found(
    written: RunningFleet, place: Place
) -> None:
    place.sql("UPDATE fleet_audit SET seq = seq + 1000 WHERE seq IN (2, 3)")
    assert "entry 2 is missing" in await broken(written)
    # exchanged
    place.sql("UPDATE fleet_audit SET seq = 3 WHERE seq = 1002")
    place.sql("UPDATE fleet_audit SET seq = 2 WHERE seq = 1003")
    assert "entry 2 is not the one" in await broken(written)
    # and as they were
    place.sql("UPDATE fleet_audit SET seq = 1003 WHERE seq = 2")
    place.sql("UPDATE fleet_audit SET seq = 2 WHERE seq = 3")
    place.sql("UPDATE fleet_audit SET seq = 3 WHERE seq = 1003")
    assert (await head(written))["seq"] == ENTRIES
    place.sql(
        "INSERT INTO fleet_audit SELECT seq + 1, at_ms, actor, action, subject, digest "
        "FROM fleet_audit WHERE seq = 6",
    )
    assert "its end" in await broken(written)


async def test_cutting_off_the_end_is_found_and_putting_the_whole_back_by_a_noted_head(
    written: RunningFleet, place: Place
) -> None:
    noted = await head(written)
    place.sql("DELETE FROM fleet_audit WHERE seq = 6")
    assert f"entries {ENTRIES} to {ENTRIES} were cut off" in await broken(written)
    # whoever can write all of the store can put it back to an earlier state: only the noted head tells
    place.sql(
        "UPDATE fleet_state SET audit_seq = 5, audit_digest = "
        "(SELECT digest FROM fleet_audit WHERE seq = 5)",
    )
    assert (await head(written))["seq"] == ENTRIES - 1
    assert "which was noted" in await broken(written, **noted)
    await written.account()
    assert "not the one that was noted" in await broken(written, **noted)


async def test_what_is_done_is_written_down_by_ids_alone(fleet: RunningFleet, place: Place) -> None:
    machine = await fleet.registered(await fleet.account("MARKER-label"))
    edge = await fleet.linked(machine)
    await fleet.admin("block/add", scope="server", subjectId=GUILD, reason="MARKER-reason")
    await fleet.admin("block/remove", scope="server", subjectId=GUILD)
    attention = {"wakeTrigger": "name", "names": ["MARKER-name"]}
    await fleet.admin("route/set", tenantId=machine.tenant, attention=attention)
    await fleet.admin("limit/set", limit="server_wakes_per_day", subjectId=GUILD, max=5)
    await fleet.admin("limit/unset", limit="server_wakes_per_day", subjectId=GUILD)
    await fleet.admin("link/remove", edgeId=edge.edge_id, kind="server", discordId=GUILD)
    await fleet.admin("edge/revoke", edgeId=edge.edge_id)
    await fleet.admin("account/remove", accountId=machine.account)
    entries = await fleet.admin("audit/list", count=1000)
    assert [entry["action"] for entry in entries] == [
        *("key_created", "account_added", "installation_added", "pairing_key_registered"),
        *("edge_added", "linked", "blocked", "unblocked", "attention_set"),
        *("limit_set", "limit_unset", "unlinked", "edge_revoked"),
        *("installation_removed", "account_removed"),
    ]
    assert [entry["seq"] for entry in entries] == list(range(1, len(entries) + 1))
    actors = {entry["actor"] for entry in entries}
    assert actors == {"fleet", "admin", f"body:{machine.installation}"}
    assert "MARKER" not in place.sql("SELECT * FROM fleet_audit")
    pages = [await fleet.admin("audit/list", after=after, count=5) for after in (0, 5, 10)]
    assert list(itertools.chain(*pages)) == entries


async def test_a_refused_change_leaves_no_entry_and_no_change(
    fleet: RunningFleet, place: Place
) -> None:
    before = await head(fleet)
    for call, fields in (
        ("account/remove", {"accountId": "ac_none"}),
        ("installation/add", {"accountId": "ac_none", "label": "x"}),
        ("installation/revoke", {"installationId": "x" * 22}),
        ("edge/revoke", {"edgeId": "ed_" + "a" * 20}),
        ("edge/renew", {"edgeId": "ed_" + "a" * 20}),
        ("route/set", {"tenantId": "tn_" + "a" * 20, "attention": {}}),
        (
            "link/add",
            {
                "edgeId": "ed_" + "a" * 20,
                "kind": "server",
                "discordId": "1",
                "tenantId": "tn_" + "a" * 20,
            },
        ),
        ("link/remove", {"edgeId": "ed_" + "a" * 20, "kind": "user", "discordId": "1"}),
        ("block/remove", {"scope": "server", "subjectId": "1"}),
        ("limit/set", {"limit": "none", "subjectId": "1", "max": 1}),
        ("limit/unset", {"limit": "server_wakes_per_day", "subjectId": "1"}),
    ):
        answer = await fleet.try_admin(call, **fields)
        assert answer.status == 409, (call, answer)
        assert answer.json["message"]
        assert answer.json["nextStep"].endswith(".")
    assert await head(fleet) == before
    assert place.sql("SELECT count(*) FROM fleet_installations") == "0"

"""The loopback port: who comes in, and that what is shown once is kept nowhere."""

import json
import stat

import pytest

from clankie.fleet.admin.bearer import ADMIN_BEARER, admin_bearer
from clankie.runtime.broker import TokenCredential
from fleet.support import Place, RunningFleet


def bearer(fleet: RunningFleet) -> dict[str, str]:
    return {"authorization": f"Bearer {admin_bearer(fleet.broker)}"}


async def test_the_bearer_is_made_at_the_first_start_and_opens_everything(
    plain_fleet: RunningFleet,
) -> None:
    kept = plain_fleet.broker.get(ADMIN_BEARER, TokenCredential)
    assert kept is not None
    assert stat.S_IMODE(plain_fleet.broker.path.stat().st_mode) == 0o600
    answer = await plain_fleet.admin_ask("account/list", b"{}", bearer(plain_fleet))
    assert (answer.status, answer.json) == (200, [])
    await plain_fleet.stop()
    await plain_fleet.start()
    assert plain_fleet.broker.get(ADMIN_BEARER, TokenCredential) == kept


@pytest.mark.parametrize("call", ["account/add", "key/rotate", "none"])
async def test_without_the_bearer_nothing_is_done(
    plain_fleet: RunningFleet, sqlite_place: Place, call: str
) -> None:
    edge = await plain_fleet.edge()
    for token in (None, "", "x", edge.token, admin_bearer(plain_fleet.broker)[:-1]):
        headers = {} if token is None else {"authorization": f"Bearer {token}".strip()}
        answer = await plain_fleet.admin_ask(call, b'{"label":"x"}', headers)
        assert answer.told == (401, "unauthorized")
    assert sqlite_place.sql("SELECT count(*) FROM fleet_accounts") == "0"
    assert sqlite_place.sql("SELECT count(*) FROM fleet_signing_keys") == "1"


async def test_a_page_of_another_origin_or_name_gets_nothing_even_with_the_bearer(
    plain_fleet: RunningFleet,
) -> None:
    port = plain_fleet.role.local_port
    for headers, code in (
        ({"host": "fleet.example"}, "host_refused"),
        ({"host": f"evil.example:{port}"}, "host_refused"),
        ({"host": f"127.0.0.1:{port + 1}"}, "host_refused"),
        ({"host": "127.0.0.1"}, "host_refused"),
        ({"origin": "https://evil.example"}, "origin_refused"),
        ({"origin": "null"}, "origin_refused"),
        ({"origin": f"http://127.0.0.1:{port}.evil.example"}, "origin_refused"),
    ):
        answer = await plain_fleet.admin_ask("account/list", b"{}", bearer(plain_fleet) | headers)
        assert answer.told == (403, code), headers
    for headers in ({"host": f"localhost:{port}"}, {"origin": f"http://127.0.0.1:{port}"}):
        answer = await plain_fleet.admin_ask("account/list", b"{}", bearer(plain_fleet) | headers)
        assert answer.status == 200


async def test_the_public_port_has_no_administration_and_no_measurements(
    plain_fleet: RunningFleet,
) -> None:
    for path in ("/admin/v1/account/list", "/metrics"):
        for method in ("GET", "POST"):
            answer = await plain_fleet.ask(method, path, b"{}", bearer(plain_fleet))
            assert answer.told == (404, "not_found")


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"{", b'{"label":1}', b'{"label":""}', b'{"label":"x","more":1}']
)
async def test_what_is_no_request_is_malformed(plain_fleet: RunningFleet, body: bytes) -> None:
    answer = await plain_fleet.admin_ask("account/add", body, bearer(plain_fleet))
    assert answer.told == (400, "malformed")


@pytest.mark.parametrize("sign", ["\x1b[31m", "\x07", "\n", "\x9b", "\u202e", "\u2066"])
async def test_no_label_and_no_reason_holds_what_a_terminal_would_obey(
    plain_fleet: RunningFleet, sign: str
) -> None:
    account = await plain_fleet.account("a label é 🦜")
    wrong = {"label": f"a{sign}b"}
    for answer in (
        await plain_fleet.try_admin("account/add", **wrong),
        await plain_fleet.try_admin("edge/add", **wrong),
        await plain_fleet.try_admin("installation/add", accountId=account, **wrong),
        await plain_fleet.try_admin("block/add", scope="server", subjectId="1", reason=f"a{sign}"),
    ):
        assert answer.told == (400, "malformed")
    assert len(await plain_fleet.admin("account/list")) == 1
    assert await plain_fleet.admin("edge/list") == await plain_fleet.admin("block/list") == []


async def test_no_token_and_no_key_is_kept_in_the_store_or_shown_again(
    fleet: RunningFleet, place: Place, capfd: pytest.CaptureFixture[str]
) -> None:
    machine = await fleet.registered()
    edge = await fleet.linked(machine)
    await machine.register_ingress_key()
    await machine.call("host-credential")
    await edge.permit(machine)
    secrets = {
        "registration token": machine.token,
        "host credential": machine.credential,
        "edge token": edge.token.partition(".")[2],
        "admin bearer": admin_bearer(fleet.broker),
    }
    shown = json.dumps(
        [
            await fleet.admin(call)
            for call in ("account/list", "installation/list", "edge/list", "audit/list", "key/list")
        ]
    )
    stored = "".join(
        place.sql("SELECT * FROM fleet_" + table)  # noqa: S608 - the test's own
        for table in [
            "accounts",
            "installations",
            "registration_tokens",
            "edges",
            "audit",
            "signing_keys",
        ]
    )
    captured = capfd.readouterr()
    logged = captured.out + captured.err
    for what, secret in secrets.items():
        assert secret not in shown, what
        assert secret not in stored, what
        assert secret not in logged, what

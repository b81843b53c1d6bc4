"""Several gateways as one, over a real NATS: any of them serves any host."""

import asyncio
import json
import os
from pathlib import Path

import pytest
from nats.aio.client import Client as NatsClient

from clankie.gateway import public
from clankie.gateway.cluster import placing
from clankie.gateway.refusals import BURST
from clankie.protocol.gateway_frames import MAX_EXCHANGES
from gateway.clustered import cluster_is, code_of, joined, known
from gateway.gateways import HOST_A, HOST_B, SECONDS, Gateway, Identity, RawHost
from nats_server import NatsServer

MIB = 1_048_576


@pytest.mark.parametrize("size", [0, 3, 300_000, 2 * MIB])
async def test_any_gateway_serves_a_host_whichever_holds_its_tunnel(
    one: Gateway, two: Gateway, size: int
) -> None:
    async with await RawHost.dial(one.port, HOST_A) as host_a:
        await known(two, host_a, HOST_A)
        body = os.urandom(size)
        asking = asyncio.ensure_future(two.ask(HOST_A, body, "prefer: wait=9", "cookie: x"))
        request = await host_a.request()
        assert request.body == body
        assert request.frame["headers"] == [{"name": "prefer", "value": "wait=9"}]
        await request.answer(body[::-1], 200, retry_after="3", set_cookie="x")
        answer = await asking
        assert (answer.status, answer.body) == (200, body[::-1])
        assert answer.headers == {"retry-after": "3", "content-length": str(size)}
        await one.until("clankie_gateway_held_bytes", 0)
        await two.until("clankie_gateway_held_bytes", 0)


async def test_the_largest_answer_passes_between_gateways_whole(one: Gateway, two: Gateway) -> None:
    async with await RawHost.dial(one.port, HOST_A) as host_a:
        await known(two, host_a, HOST_A)
        asking = asyncio.ensure_future(two.ask(HOST_A))
        await (await host_a.request()).answer(b"\x07" * (16 * MIB))
        assert (await asking).body == b"\x07" * (16 * MIB)


async def test_a_host_that_no_gateway_holds_is_unavailable_at_once(
    one: Gateway, two: Gateway
) -> None:
    async with asyncio.timeout(1):
        answers = [await gateway.ask(HOST_A) for gateway in (one, two)]
    assert [answer.status for answer in answers] == [503, 503]
    assert json.loads(answers[0].body) == {"error": "host_unavailable"}


async def test_a_host_that_has_gone_is_not_asked_for_any_more(one: Gateway, two: Gateway) -> None:
    async with await RawHost.dial(one.port, HOST_A) as host_a:
        await known(two, host_a, HOST_A)
    await one.until("clankie_gateway_tunnels", 0)
    async with asyncio.timeout(SECONDS):
        assert (await two.ask(HOST_A)).status == 503


async def test_every_failure_is_told_as_if_the_tunnel_were_here(
    one: Gateway, two: Gateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with await RawHost.dial(one.port, HOST_A) as host_a:
        await known(two, host_a, HOST_A)
        asking = asyncio.ensure_future(two.ask(HOST_A))
        await host_a.say("cancel", (await host_a.request()).id, reason="protocol_error")
        assert code_of(await asking) == (502, "host_cancelled")
        asking = asyncio.ensure_future(two.ask(HOST_A))
        await (await host_a.request()).answer(bytes(16 * MIB + 1))
        assert code_of(await asking) == (502, "gateway_response_limit")
        assert (await host_a.frame())["reason"] == "protocol_error"
        monkeypatch.setattr(public, "EXCHANGE_SECONDS", 0.2)
        asking = asyncio.ensure_future(two.ask(HOST_A))
        await host_a.request()
        assert code_of(await asking) == (504, "gateway_timeout")
        assert (await host_a.frame())["kind"] == "cancel"


async def test_128_exchanges_are_in_flight_for_a_host_over_all_gateways(
    one: Gateway, two: Gateway
) -> None:
    async with await RawHost.dial(one.port, HOST_A) as host_a:
        await known(two, host_a, HOST_A)
        asking = [
            asyncio.ensure_future(gateway.ask(HOST_A)) for gateway in (one, two) for _ in range(64)
        ]
        requests = [await host_a.request() for _ in asking]
        assert code_of(await two.ask(HOST_A)) == (503, "gateway_busy")
        assert code_of(await one.ask(HOST_A)) == (503, "gateway_busy")
        for request in requests:
            await request.answer()
        assert {(await each).status for each in asking} == {200}


async def test_a_client_that_hangs_up_is_told_to_the_host_through_both_gateways(
    one: Gateway, two: Gateway
) -> None:
    async with await RawHost.dial(one.port, HOST_A) as host_a:
        await known(two, host_a, HOST_A)
        client = await two.client()
        asking = asyncio.ensure_future(client.ask("POST", HOST_A.path, b"{}"))
        request = await host_a.request()
        asking.cancel()
        client.writer.close()
        cancel = await host_a.frame()
        assert (cancel["requestId"], cancel["reason"]) == (request.id, "client_closed")
        await one.until("clankie_gateway_exchanges_in_flight", 0)


async def test_a_newer_connection_on_another_gateway_replaces_the_older_one(
    one: Gateway, two: Gateway
) -> None:
    older = await RawHost.dial(one.port, HOST_A)
    await known(two, older, HOST_A)
    async with await RawHost.dial(two.port, HOST_A) as newer:
        assert await older.closed() == 1012
        await known(one, newer, HOST_A)
        assert not newer.socket.close_code
        # and back again
        async with await RawHost.dial(one.port, HOST_A) as newest:
            assert await newer.closed() == 1012
            await known(two, newest, HOST_A)


async def test_a_host_that_takes_over_on_another_gateway_ends_its_exchanges_on_the_older(
    one: Gateway, two: Gateway
) -> None:
    older = await RawHost.dial(one.port, HOST_A)
    await known(two, older, HOST_A)
    asking = [asyncio.ensure_future(gateway.ask(HOST_A)) for gateway in (one, two)]
    requests = [await older.request() for _ in asking]
    async with await RawHost.dial(two.port, HOST_A, takes_over=True) as newer:
        await one.until("clankie_gateway_tunnels", 0)
        for gateway in (two, one):
            await known(gateway, newer, HOST_A)
        for request in requests:
            await request.answer(b"over the older")
        assert {(await each).body for each in asking} == {b"over the older"}
        assert await older.closed() == 1012
        await known(one, newer, HOST_A)


async def test_a_tunnel_that_is_settled_gives_way_whatever_the_clocks_say(
    one: Gateway, two: Gateway, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(placing, "SETTLED_SECONDS", 0.0)
    older = await RawHost.dial(one.port, HOST_A)
    tunnel = one.role._tunnels.get(HOST_A.host_id)
    assert tunnel is not None
    tunnel.connected_at_ms += 60_000  # its gateway's clock is ahead
    await known(two, older, HOST_A)
    async with await RawHost.dial(two.port, HOST_A) as newer:
        assert await older.closed() == 1012
        await known(one, newer, HOST_A)


async def test_of_two_that_open_at_once_exactly_one_stays(one: Gateway, two: Gateway) -> None:
    for _ in range(10):
        hosts = await asyncio.gather(RawHost.dial(one.port, HOST_A), RawHost.dial(two.port, HOST_A))
        ends = [asyncio.ensure_future(host.closed()) for host in hosts]
        done, open_still = await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        assert [end.result() for end in done] == [1012]
        for end in open_still:
            end.cancel()
        for host in hosts:
            await host.socket.close()
        for gateway in (one, two):
            await gateway.until("clankie_gateway_tunnels", 0)


async def test_hosts_of_other_gateways_are_reached_from_an_address_that_asks_for_absent_ones(
    one: Gateway, two: Gateway
) -> None:
    async def wear_out() -> None:
        for _ in range(BURST + 2):
            last = await two.ask(Identity.number(9))
        assert last.status == 429

    async with await RawHost.dial(one.port, HOST_A) as host_a:
        await known(two, host_a, HOST_A)
        await wear_out()
        asking = asyncio.ensure_future(two.ask(HOST_A))
        await (await host_a.request()).answer(b"as ever")
        assert (await asking).body == b"as ever"
        async with await RawHost.dial(one.port, HOST_B) as host_b:  # also one that came just now
            await told(two, HOST_B, True)
            asking = asyncio.ensure_future(two.ask(HOST_B))
            await (await host_b.request()).answer(b"new")
            assert (await asking).body == b"new"
        await one.until("clankie_gateway_tunnels", 1)
        await wear_out()
        async with asyncio.timeout(SECONDS):  # one that went is absent like any other
            while (await two.ask(HOST_B)).status != 429:
                pass


async def test_a_gateway_that_joins_is_told_which_hosts_the_others_hold(
    nats: NatsServer, one: Gateway, tmp_path: Path
) -> None:
    async with (
        await RawHost.dial(one.port, HOST_A),
        joined(nats, tmp_path / "late") as late,
    ):
        await told(late, HOST_A, True)
        await told(one, HOST_A, False)


async def told(gateway: Gateway, who: Identity, held: bool) -> None:
    """Wait until the gateway believes this of its others."""
    async with asyncio.timeout(SECONDS):
        while gateway.role._cluster.holds(who.host_id) is not held:  # type: ignore[union-attr]  # noqa: ASYNC110
            await asyncio.sleep(0.005)


async def test_without_nats_hosts_here_are_served_and_the_cluster_comes_back_by_itself(
    nats: NatsServer, one: Gateway, two: Gateway
) -> None:
    async with (
        await RawHost.dial(one.port, HOST_A) as host_a,
        await RawHost.dial(two.port, HOST_B) as host_b,
    ):
        await known(two, host_a, HOST_A)
        cut = asyncio.ensure_future(two.ask(HOST_A))
        await host_a.request()
        nats.kill()
        assert code_of(await cut) == (502, "host_cancelled")
        for gateway in (one, two):
            await cluster_is(gateway, "apart")
            assert not gateway.role.health().ok
        asking = asyncio.ensure_future(one.ask(HOST_A))
        frame = await host_a.frame()
        while frame["kind"] != "request":  # the cancel of what was cut may come first
            frame = await host_a.frame()
        await host_a.say("response_start", frame["requestId"], status=200, headers=[])
        await host_a.say("response_end", frame["requestId"])
        assert (await asking).status == 200
        assert code_of(await two.ask(HOST_A)) == (503, "host_unavailable")
        assert not host_b.socket.close_code
        await nats.start()
        async with asyncio.timeout(10):
            for gateway in (one, two):
                await cluster_is(gateway, "joined")
            await known(one, host_b, HOST_B)


async def test_what_a_lost_nats_cut_off_holds_no_place_of_its_host_any_more(
    nats: NatsServer, one: Gateway, two: Gateway
) -> None:
    async with await RawHost.dial(one.port, HOST_A) as host_a:
        await known(two, host_a, HOST_A)
        cut = [asyncio.ensure_future(two.ask(HOST_A)) for _ in range(MAX_EXCHANGES)]
        for _ in cut:
            await host_a.request()
        nats.kill()
        assert {code_of(await each) for each in cut} == {(502, "host_cancelled")}
        for _ in cut:
            assert (await host_a.frame())["kind"] == "cancel"
        await one.until("clankie_gateway_exchanges_in_flight", 0)


async def test_a_holder_that_alone_lost_nats_tells_whoever_still_waits(
    nats: NatsServer, one: Gateway, two: Gateway
) -> None:
    async with await RawHost.dial(one.port, HOST_A) as host_a:
        await known(two, host_a, HOST_A)
        waiting = asyncio.ensure_future(two.ask(HOST_A))
        await host_a.request()
        await _drop(one)
        assert code_of(await waiting) == (502, "host_cancelled")


async def test_an_asker_that_alone_lost_nats_tells_whoever_still_serves(
    nats: NatsServer, one: Gateway, two: Gateway
) -> None:
    async with await RawHost.dial(one.port, HOST_A) as host_a:
        await known(two, host_a, HOST_A)
        cut = asyncio.ensure_future(two.ask(HOST_A))
        request = await host_a.request()
        (asked,) = two.role._cluster._asking._asked.values()  # type: ignore[union-attr]
        await asked.taken
        await _drop(two)
        assert code_of(await cut) == (502, "host_cancelled")
        cancel = await host_a.frame()
        assert (cancel["requestId"], cancel["reason"]) == (request.id, "client_closed")


async def test_a_host_that_moved_while_the_gateways_were_apart_has_one_tunnel_after(
    nats: NatsServer, one: Gateway, two: Gateway
) -> None:
    older = await RawHost.dial(one.port, HOST_A)
    nats.kill()
    for gateway in (one, two):
        await cluster_is(gateway, "apart")
    async with await RawHost.dial(two.port, HOST_A) as newer:
        assert not older.socket.close_code
        await nats.start()
        assert await older.closed() == 1012
        await known(one, newer, HOST_A)


async def test_a_gateway_starts_without_nats_and_joins_when_it_is_there(tmp_path: Path) -> None:
    nats = NatsServer()
    async with Gateway(tmp_path / "one", CLANKIE_GATEWAY_NATS_URL=nats.url) as gateway:
        assert gateway.role.health().cluster == "apart"
        async with await RawHost.dial(gateway.port, HOST_A) as host_a:
            asking = asyncio.ensure_future(gateway.ask(HOST_A))
            await (await host_a.request()).answer()
            assert (await asking).status == 200
            await nats.start()
            await cluster_is(gateway, "joined")
            async with joined(nats, tmp_path / "two") as other:
                await known(other, host_a, HOST_A)
    nats.kill()


async def test_a_password_opens_nats_and_shows_nowhere(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    async with NatsServer("marker-password") as nats:
        wrong = nats.url.replace("marker-password", "marker-wrong")
        async with (
            Gateway(tmp_path / "two", CLANKIE_GATEWAY_NATS_URL=wrong) as other,
            joined(nats, tmp_path / "one") as gateway,
        ):
            assert gateway.role.health().ok
            assert other.role.health().cluster == "apart"
            assert "marker" not in repr(gateway.role._cluster._link)  # type: ignore[union-attr]
    assert "marker" not in "".join(capfd.readouterr())


async def test_envelopes_and_clients_leave_no_trace_in_subjects_or_logs(
    nats: NatsServer, one: Gateway, two: Gateway, capfd: pytest.CaptureFixture[str]
) -> None:
    subjects: list[str] = []

    async def hear(message: object) -> None:
        subjects.append(message.subject)  # type: ignore[attr-defined]

    tap = NatsClient()
    await tap.connect(nats.url)
    await tap.subscribe("clankie.>", cb=hear)
    await tap.flush()
    async with await RawHost.dial(one.port, HOST_A) as host_a:
        await known(two, host_a, HOST_A)
        asking = asyncio.ensure_future(two.ask(HOST_A, b"marker-question"))
        await (await host_a.request()).answer(b"marker-answer")
        await asking
        await tap.flush()
    await tap.close()
    assert f"clankie.gateway.host.{HOST_A.host_id}" in subjects
    assert not any("marker" in subject or HOST_A.account in subject for subject in subjects)
    assert "marker" not in "".join(capfd.readouterr())


async def test_what_strangers_publish_breaks_nothing(
    nats: NatsServer, one: Gateway, two: Gateway
) -> None:
    stranger = NatsClient()
    await stranger.connect(nats.url)
    node = one.role._cluster._node  # type: ignore[union-attr]
    async with await RawHost.dial(one.port, HOST_A) as host_a:
        await known(two, host_a, HOST_A)
        for data in (b"", b"\xff", b"{}", b"\x91\xa3ask", b"\x92\xa5taken\xa1x", os.urandom(200)):
            for subject in (
                f"clankie.gateway.host.{HOST_A.host_id}",
                f"clankie.gateway.node.{node}.x",
                "clankie.gateway.placed",
            ):
                await stranger.publish(subject, data)
        await stranger.flush()
        await known(two, host_a, HOST_A)
    await stranger.close()


async def _drop(gateway: Gateway) -> None:
    """Cut one gateway's own connection to NATS, and wait until it has noticed."""
    link = gateway.role._cluster._link  # type: ignore[union-attr]
    link._client._transport._io_writer.transport.abort()
    await cluster_is(gateway, "apart")

"""What tests of several gateways share: joining, waiting for a host, reading a refusal."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from body.http_client import HttpAnswer
from gateway.gateways import SECONDS, Gateway, Identity, RawHost
from nats_server import NatsServer


@asynccontextmanager
async def joined(nats: NatsServer, home: Path) -> AsyncIterator[Gateway]:
    async with Gateway(home, CLANKIE_GATEWAY_NATS_URL=nats.url) as gateway:
        await cluster_is(gateway, "joined")
        yield gateway


async def cluster_is(gateway: Gateway, state: str) -> None:
    async with asyncio.timeout(SECONDS):
        while gateway.role.health().cluster != state:  # noqa: ASYNC110
            await asyncio.sleep(0.005)


async def known(gateway: Gateway, host: RawHost, who: Identity) -> None:
    """Wait until the host is found through this gateway, by asking until it is."""
    async with asyncio.timeout(SECONDS):
        while True:
            asking = asyncio.ensure_future(gateway.ask(who, b"known?"))
            request = asyncio.ensure_future(host.request())
            done, _ = await asyncio.wait({asking, request}, return_when=asyncio.FIRST_COMPLETED)
            if request in done:
                await request.result().answer()
                assert (await asking).status == 200
                return
            request.cancel()
            assert asking.result().status == 503
            await asyncio.sleep(0.01)


def code_of(answer: HttpAnswer) -> tuple[int, str]:
    return answer.status, json.loads(answer.body)["error"]

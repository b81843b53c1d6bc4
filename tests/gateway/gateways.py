"""Gateways in this process, hosts that dial them, and clients that ask. It tests nothing."""

import asyncio
import json
import time
from pathlib import Path
from typing import Any, NamedTuple, Self

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from body.homes import FLEET_KEY, TENANT
from body.http_client import HttpAnswer, HttpClient, once
from clankie.gateway.role import GatewayRole
from clankie.protocol import base64_standard
from clankie.protocol.fleet_tokens import VerifyKeys, host_id, sign_host_credential
from clankie.protocol.gateway_frames import CONNECT_PATH, MAX_FRAME_BYTES, TAKES_OVER_HEADER
from clankie.protocol.primitives import Ed25519PrivateKey
from clankie.runtime.broker import FileBroker
from clankie.runtime.clock import Clock, SystemClock
from clankie.runtime.config import load_config
from clankie.runtime.lifecycle import Shutdown

INGRESS = "/v1/discord/ingress"
SECONDS = 20
"""Nothing that a test waits for takes longer."""


class Identity(NamedTuple):
    """A host as the fleet knows it."""

    account: str
    installation: str

    @classmethod
    def number(cls, number: int) -> "Identity":
        return cls(f"account-{number}", f"{number:022d}")

    @property
    def host_id(self) -> str:
        return host_id(self.account, self.installation)

    @property
    def path(self) -> str:
        return f"/h/{self.host_id}{INGRESS}"

    def credential(
        self, key: Ed25519PrivateKey = FLEET_KEY, *, now_ms: int | None = None, life_s: int = 3_600
    ) -> str:
        return sign_host_credential(
            key,
            tenant_id=TENANT,
            account_id=self.account,
            installation_id=self.installation,
            now_ms=time.time_ns() // 1_000_000 if now_ms is None else now_ms,
            life_s=life_s,
        )


HOST_A = Identity.number(1)
HOST_B = Identity.number(2)


class Gateway:
    """One gateway with a home of its own."""

    def __init__(self, home: Path, clock: Clock | None = None, **settings: str) -> None:
        home.mkdir(mode=0o700, exist_ok=True)
        if "CLANKIE_GATEWAY_FLEET_ORIGIN" not in settings:
            (home / "gateway").mkdir(exist_ok=True)
            keys = VerifyKeys([FLEET_KEY.public_key()]).json()
            (home / "gateway" / "verify-keys.json").write_text(keys)
        ports = {"CLANKIE_GATEWAY_PORT": "0", "CLANKIE_GATEWAY_LOCAL_PORT": "0"}
        config = load_config(ports | settings, home).config
        broker = FileBroker(config.broker_path)
        self.role = GatewayRole(config, broker, "test", clock=clock or SystemClock())

    async def __aenter__(self) -> Self:
        await self.role.start(Shutdown())
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.role.stop(0)

    @property
    def port(self) -> int:
        return self.role.port

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def ask(self, who: Identity, body: bytes = b"{}", *headers: str) -> HttpAnswer:
        """One request for a host on a connection of its own."""
        return await once(self.port, "POST", who.path, body, headers)

    async def stalled(self, who: Identity) -> None:
        """Wait until the host's tunnel takes nothing any more."""
        tunnel = self.role._tunnels.get(who.host_id)
        assert tunnel is not None
        async with asyncio.timeout(SECONDS):
            while tunnel._send.__self__.writable.is_set():  # type: ignore[attr-defined]  # noqa: ASYNC110
                await asyncio.sleep(0.005)

    async def client(self) -> HttpClient:
        """A keep-alive connection."""
        return await HttpClient.connect(self.port)

    def sample(self, name: str, **labels: str) -> float:
        return self.role.registry.get_sample_value(name, labels) or 0.0

    async def until(self, name: str, value: float, **labels: str) -> None:
        """Wait until a measurement has this value."""
        async with asyncio.timeout(SECONDS):
            while self.sample(name, **labels) != value:  # noqa: ASYNC110 - nothing announces it
                await asyncio.sleep(0.005)


class RawHost:
    """A host that says whatever a test wants."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket

    @classmethod
    async def dial(
        cls,
        port: int,
        who: Identity,
        credential: str | None = None,
        *,
        query: str | None = None,
        path: str = CONNECT_PATH,
        headers: list[tuple[str, str]] | None = None,
        takes_over: bool = False,
        **options: Any,
    ) -> Self:
        """Connect; raises InvalidStatus when refused."""
        query = query or f"hostId={who.host_id}&installationId={who.installation}"
        bearer = [("authorization", f"Bearer {credential or who.credential()}")]
        if takes_over:
            bearer.append((TAKES_OVER_HEADER, "1"))
        socket = await connect(
            f"ws://127.0.0.1:{port}{path}?{query}",
            additional_headers=bearer if headers is None else headers,
            compression=None,
            proxy=None,
            max_size=MAX_FRAME_BYTES,
            **options,
        )
        return cls(socket)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.socket.close()

    async def frame(self) -> dict[str, Any]:
        """The gateway's next frame."""
        async with asyncio.timeout(SECONDS):
            frame: dict[str, Any] = json.loads(await self.socket.recv())
            return frame

    async def request(self) -> "RawRequest":
        """The gateway's next frame, which is a request."""
        frame = await self.frame()
        assert frame["kind"] == "request", frame
        return RawRequest(self, frame)

    async def say(self, kind: str, request_id: str, **fields: Any) -> None:
        """Send a frame, good or bad."""
        frame = {"schemaVersion": 1, "kind": kind, "requestId": request_id, **fields}
        await self.socket.send(json.dumps(frame))

    async def closed(self) -> int | None:
        """Wait until the gateway closes; the code."""
        async with asyncio.timeout(SECONDS):
            try:
                while True:
                    await self.socket.recv()
            except ConnectionClosed:
                return self.socket.close_code


class RawRequest:
    """A request as the host sees it."""

    def __init__(self, host: RawHost, frame: dict[str, Any]) -> None:
        self.host = host
        self.frame = frame
        self.id: str = frame["requestId"]

    @property
    def body(self) -> bytes:
        return base64_standard.decode(self.frame.get("bodyBase64", ""))

    async def start(self, status: int = 200, **headers: str) -> None:
        pairs = [{"name": k.replace("_", "-"), "value": v} for k, v in headers.items()]
        await self.host.say("response_start", self.id, status=status, headers=pairs)

    async def chunk(self, sequence: int, body: bytes) -> None:
        text = base64_standard.encode(body)
        await self.host.say("response_chunk", self.id, sequence=sequence, bodyBase64=text)

    async def end(self) -> None:
        await self.host.say("response_end", self.id)

    async def answer(self, body: bytes = b"ok", status: int = 200, **headers: str) -> None:
        """A whole answer in chunks of the largest size."""
        await self.start(status, **headers)
        for sequence, start in enumerate(range(0, len(body), 49_152)):
            await self.chunk(sequence, body[start : start + 49_152])
        await self.end()


async def refused(
    port: int, who: Identity, credential: str | None = None, **dial: Any
) -> tuple[int, str]:
    """The status and error code of a dial that is not let in."""
    try:
        host = await RawHost.dial(port, who, credential, **dial)
    except InvalidStatus as error:
        body = json.loads(error.response.body or b"{}")
        return error.response.status_code, body.get("error", "")
    await host.socket.close()
    raise AssertionError("the dial was let in")

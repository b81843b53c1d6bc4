"""One call to the fleet, with the rules of wire.md 10:

    answer                          then
    200                             its body
    401 body_signature_invalid      again, with a fresh nonce and timestamp; three tries in all
    403 pairing_key_required        the key is registered again, once, and the call made once more
    any other 403                   RegistrationStopped: no call ever again
    408, 429, 5xx, no answer        FleetUnreachable: whoever called tries again later
    anything else, redirects too    FleetCallFailed

`pairing-key` itself is tried three times. Ten seconds a try, no proxies from the environment. Nothing an answer
says changes this machine's keys, identity or clock. Owns these rules. Must not know when calls are made.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import Any, Final

import msgspec
import structlog
from msgspec import UNSET
from prometheus_client import CollectorRegistry, Counter

from clankie.body.bootstrap import Bootstrap
from clankie.body.registration.errors import (
    FleetCallFailed,
    FleetUnreachable,
    RegistrationStopped,
)
from clankie.connection.http import AnswerTooLarge, HttpAnswer, HttpTransport, NoAnswer
from clankie.protocol import base64url
from clankie.protocol.body_requests import sign_body_request
from clankie.protocol.primitives import Ed25519PrivateKey
from clankie.runtime.clock import Clock

BODY_PATH: Final = "/fleet/v1/body/"
CALL_SECONDS: Final = 10.0
"""For a call and its answer as a whole."""
ATTEMPTS: Final = 3
"""Of `pairing-key`, and of a signed call whose signature was not taken."""
PAIRING_PAUSE_SECONDS: Final = 2.0
"""Between two tries of `pairing-key`, at most; the pause is random, since a fleet that restarts meets many bodies."""

_UNREACHABLE: Final = (408, 429)
_SERVER_ERROR: Final = 500
_PAIRING_REQUIRED: Final = "pairing_key_required"
_SIGNATURE_INVALID: Final = "body_signature_invalid"

Sleep = Callable[[float], Awaitable[None]]

log = structlog.get_logger(__name__)


class _Refusal(msgspec.Struct, frozen=True):
    error: str


class Caller:
    """Makes calls as one body.

    Args:
        origin: the fleet's, as the bootstrap says.
        key: the pairing key.
        bootstrap: who calls, and the registration token, if there is one.
        bearer: gives the host credential there is, expired or not.
        re_registered: told when the fleet had lost the pairing key, and has it again.
    """

    def __init__(
        self,
        origin: str,
        key: Ed25519PrivateKey,
        *,
        bootstrap: Bootstrap,
        bearer: Callable[[], str],
        re_registered: Callable[[], None],
        clock: Clock,
        registry: CollectorRegistry,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self._origin = origin
        self._key = key
        self._bootstrap = bootstrap
        self._bearer = bearer
        self._re_registered = re_registered
        self._clock = clock
        self._sleep = sleep
        self._http = HttpTransport(answer_seconds=CALL_SECONDS)
        self._outcomes = Counter(
            "clankie_body_fleet_calls",
            "Calls to the fleet, by outcome.",
            ("call", "outcome"),
            registry=registry,
        )

    async def pair(self) -> None:
        """`pairing-key`. Raises FleetUnreachable, FleetCallFailed, RegistrationStopped."""
        fields = {
            "installationId": self._bootstrap.installation_id,
            "publicKey": base64url.encode(self._key.public_key().raw),
        }
        token = self._bootstrap.pairing_key_registration_token
        if token is not UNSET:
            fields["registrationToken"] = token
        body = msgspec.json.encode(fields)
        for attempt in range(ATTEMPTS):
            if attempt:
                await self._sleep(PAIRING_PAUSE_SECONDS * random.uniform(0.5, 1))  # noqa: S311 - jitter, no secret
            try:
                await self._post("pairing-key", body, {})
            except FleetUnreachable:
                if attempt == ATTEMPTS - 1:
                    raise
            else:
                return

    async def call(self, name: str, fields: dict[str, Any] | None = None) -> bytes:
        """A signed call; the answer's body. Raises FleetUnreachable, FleetCallFailed, RegistrationStopped."""
        body = msgspec.json.encode(fields or {})
        try:
            return await self._signed(name, body)
        except _PairingRequired:
            log.warning("pairing_key_required", call=name)
        await self.pair()
        self._re_registered()
        try:
            return await self._signed(name, body)
        except _PairingRequired:
            raise FleetCallFailed(_PAIRING_REQUIRED) from None

    async def close(self) -> None:
        """Close every connection."""
        await self._http.close()

    async def _signed(self, name: str, body: bytes) -> bytes:
        for attempt in range(ATTEMPTS):
            headers = sign_body_request(
                self._key,
                path=BODY_PATH + name,
                tenant_id=self._bootstrap.tenant_id,
                installation_id=self._bootstrap.installation_id,
                body=body,
                now_ms=self._clock.now_ms(),
            )
            try:
                return await self._post(
                    name, body, headers | {"authorization": f"Bearer {self._bearer()}"}
                )
            except FleetCallFailed as error:
                if error.code != _SIGNATURE_INVALID or attempt == ATTEMPTS - 1:
                    raise
        raise FleetCallFailed(_SIGNATURE_INVALID)

    async def _post(self, name: str, body: bytes, headers: dict[str, str]) -> bytes:
        try:
            answer = await self._http.post(self._origin + BODY_PATH + name, body, 0, headers)
        except NoAnswer as error:
            self._count(name, "no_answer")
            raise FleetUnreachable(error.reason) from None
        except AnswerTooLarge:
            self._count(name, "too_large")
            raise FleetCallFailed("answer_too_large") from None
        code = "ok" if answer.status == 200 else _code(answer)
        self._count(name, code)
        if answer.status == 200:
            return answer.body
        if answer.status == 403 and code == _PAIRING_REQUIRED:
            raise _PairingRequired(code)
        if answer.status == 403:
            raise RegistrationStopped(code)
        if answer.status in _UNREACHABLE or answer.status >= _SERVER_ERROR:
            raise FleetUnreachable(code)
        raise FleetCallFailed(code)

    def _count(self, name: str, outcome: str) -> None:
        self._outcomes.labels(name, outcome).inc()


class _PairingRequired(FleetCallFailed):
    """403 `pairing_key_required`."""


KNOWN_CODES: Final = frozenset(
    (
        *("host_credential_invalid", "body_signature_invalid", "pairing_key_required"),
        *("installation_unknown", "installation_revoked", "installation_mismatch"),
        *("registration_token_required", "registration_token_invalid", "registration_token_used"),
        *("malformed", "unavailable", "not_found"),
    )
)
"""A fleet's words that logs and counters repeat; anything else is named by its status, since anyone could say it."""


def _code(answer: HttpAnswer) -> str:
    try:
        said = msgspec.json.decode(answer.body, type=_Refusal).error
    except msgspec.MsgspecError:
        said = ""
    return said if said in KNOWN_CODES else f"http_{answer.status}"

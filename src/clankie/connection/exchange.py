"""One request: prepare, permit, seal, post, open. Each has a key, a nonce and a permit of its own (S10, S13, S22).

Owns what an HTTP answer is called. Must not know when a delivery asks again.
"""

from typing import Final, NoReturn

import msgspec

from clankie.connection.errors import (
    BodyUnavailable,
    DeliveryConflict,
    EnvelopeTooLarge,
    IngressNotEnabled,
    NotAuthorized,
    UnexpectedAnswer,
)
from clankie.connection.http import AnswerTooLarge, HttpAnswer, HttpTransport, NoAnswer
from clankie.connection.pacing import retry_after_seconds
from clankie.connection.permits import PermitSource
from clankie.protocol.discord_ingress import (
    DiscordIngressEvent,
    DiscordIngressResult,
    envelope_json,
)
from clankie.protocol.discord_ingress_crypto import SealedIngress, prepare_discord_ingress
from clankie.protocol.errors import ProtocolError
from clankie.runtime.clock import Clock

_REQUEST_TIMEOUT: Final = 408
_TOO_MANY: Final = 429
_ANSWERED: Final = 200


class _SealedAnswer(msgspec.Struct):
    sealed: str


class Exchange:
    """Asks one body, once a call.

    Args:
        url: where envelopes are posted.
        registered_public_key: the body's ingress key, 87 base64url characters.
        permits: gives a permit for each request.
        http: the transport.
        clock: reads a Retry-After date.
    """

    def __init__(
        self,
        url: str,
        registered_public_key: str,
        permits: PermitSource,
        http: HttpTransport,
        clock: Clock,
    ) -> None:
        self._url = url
        self._registered_public_key = registered_public_key
        self._permits = permits
        self._http = http
        self._clock = clock

    async def ask(self, event: DiscordIngressEvent, wait_seconds: int) -> DiscordIngressResult:
        """What the body says, sealed, of the event: a fresh envelope, whose keys are dropped on every way out (S20).

        Raises:
            DeliveryError: nothing sealed was learned.
            ProtocolError: the event breaks the contract; nothing was sent.
        """
        with prepare_discord_ingress(event, self._registered_public_key) as prepared:
            permit = await self._permits.permit(event, prepared.digest)
            request = prepared.seal(permit)
            answer = await self._post(envelope_json(request.envelope), wait_seconds)
            if answer.status != _ANSWERED:
                self._refuse(event, answer)
            return _open(request, answer.body)

    async def _post(self, body: bytes, wait_seconds: int) -> HttpAnswer:
        try:
            return await self._http.post(self._url, body, wait_seconds)
        except NoAnswer as error:
            raise BodyUnavailable(
                f"no answer came ({error.reason})",
                next_step="Check that the body or its gateway runs at the endpoint and can be reached; then ask again.",
            ) from None
        except AnswerTooLarge:
            raise UnexpectedAnswer(
                "the answer is larger than any a body gives",
                next_step="Check that the endpoint is a body's or a gateway's.",
            ) from None

    def _refuse(self, event: DiscordIngressEvent, answer: HttpAnswer) -> NoReturn:
        """Names a refusal by its status alone: its body is a stranger's word. Raises DeliveryError."""
        status = answer.status
        wish = retry_after_seconds(answer.retry_after, self._clock.now_ms())
        match status:
            case 401:
                raise NotAuthorized(
                    "the envelope was not opened (401); the body gives one answer for every cause",
                    next_step=(
                        f"Check that the event is for this body (tenant {event.tenant_id}), that the registered public "
                        "key is the body's present one, that the body trusts the key that signs the permits, and "
                        "that this clock and the body's are within 30 seconds of each other. "
                        "The body counts its causes: `clankie doctor` there, and the metric clankie_ingress_refused."
                    ),
                    retry_after_seconds=wish,
                )
            case 404:
                raise IngressNotEnabled(
                    "nothing takes envelopes at the endpoint (404)",
                    next_step=(
                        "Check the endpoint's path, and that the body has its bootstrap file or the official bot on."
                    ),
                )
            case 409:
                raise DeliveryConflict(
                    f"delivery {event.delivery_id} was admitted with another event (409)",
                    next_step=(
                        "Deliver a changed event under a delivery id of its own, and an unchanged one byte for byte."
                    ),
                )
            case 413:
                raise EnvelopeTooLarge(
                    "the envelope is larger than the other side reads (413)",
                    next_step="Send fewer or shorter context messages.",
                )
        if status in (_REQUEST_TIMEOUT, _TOO_MANY) or status >= 500:
            raise BodyUnavailable(
                f"it was refused for now ({status})",
                next_step="Ask again later; if it goes on, look at /health of the body, or of its gateway.",
                retry_after_seconds=wish,
            )
        raise UnexpectedAnswer(
            f"the answer has a status that no body gives ({status})",
            next_step="Check the endpoint: a redirect, a proxy or another service answers there.",
            retry_after_seconds=wish,
        )


def _open(request: SealedIngress, body: bytes) -> DiscordIngressResult:
    try:
        return request.open_response(msgspec.json.decode(body, type=_SealedAnswer).sealed)
    except (msgspec.DecodeError, UnicodeDecodeError, ProtocolError):
        raise UnexpectedAnswer(
            "the answer (200) holds nothing that was sealed for this request",
            next_step="Check that the endpoint is this body's, and that nothing in between changes answers.",
        ) from None

"""What goes wrong in the gateway.

ExchangeFailed               a request was not answered by its host; `status` and `code` are what its client is told
├── HostUnavailable          no tunnel, or the request was not handed over: 503
├── GatewayBusy              the host, or the gateway, carries as much as it may: 503
├── GatewayTimeout           no whole answer in time: 504
├── HostCancelled            the host gave the exchange up, or went away during it: 502
└── ResponseLimit            the answer is larger than may be carried: 502
FrameRefused                 a host sent a frame at the wrong time; its tunnel is closed
TrustUnknown                 the fleet's keys are not known yet, so nobody's credential can be verified

Nothing here holds anything of a message.
"""

from typing import ClassVar


class ExchangeFailed(Exception):
    """A request that its host did not answer (wire.md 11)."""

    status: ClassVar[int]
    code: ClassVar[str]

    def __init__(self) -> None:
        super().__init__(self.code)


class HostUnavailable(ExchangeFailed):
    """The host has no tunnel here, or did not get the request."""

    status, code = 503, "host_unavailable"


class GatewayBusy(ExchangeFailed):
    """Too much is in flight for this host, or for this gateway."""

    status, code = 503, "gateway_busy"


class GatewayTimeout(ExchangeFailed):
    """The host did not answer within the contract's 60 seconds."""

    status, code = 504, "gateway_timeout"


class HostCancelled(ExchangeFailed):
    """The host had the request and will not answer it: it may have acted on it."""

    status, code = 502, "host_cancelled"


class ResponseLimit(ExchangeFailed):
    """The answer is over 16 MiB."""

    status, code = 502, "gateway_response_limit"


class FrameRefused(Exception):
    """A frame that reads well but may not come now. The text names the rule, never a value."""


class TrustUnknown(Exception):
    """No verify keys are known yet."""

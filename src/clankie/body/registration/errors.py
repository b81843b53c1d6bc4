"""What a fleet call can come to, beside working.

Exception
└── FleetCallFailed            this try did not work; a later one may
    └── FleetUnreachable       no answer, or one that says "not now"

ClankieError (clankie.runtime.errors)
└── CredentialUnavailable      no host credential can be had now; the tunnel is dialled again later
    └── RegistrationStopped    the fleet has said no: no call is made any more

Messages name calls, statuses and the fleet's codes; never a token, a key or a credential.
"""

from clankie.runtime.errors import ClankieError


class FleetCallFailed(Exception):
    """A call that did not work.

    Attributes:
        code: the fleet's word, or one of ours; safe to log.
    """

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


class FleetUnreachable(FleetCallFailed):
    """No answer, 429 or 5xx."""


class CredentialUnavailable(ClankieError):
    """No host credential can be had now."""


class RegistrationStopped(CredentialUnavailable):
    """The fleet refused this body with 403: it makes no call any more, and keeps no tunnel.

    Attributes:
        code: the fleet's word.
    """

    def __init__(self, code: str) -> None:
        super().__init__(
            f"the fleet refuses this body: {code}",
            next_step="Ask whoever runs the fleet for a new bootstrap file, then start the body again.",
        )
        self.code = code

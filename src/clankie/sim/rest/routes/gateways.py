"""Where the gateway is, and how many sessions may still be started. Must not know sessions."""

from typing import Any, Final

from clankie.sim.rest.call import Api, Call, Route

GATEWAY_PATH: Final = "/gateway"
SHARDS: Final = 1
"""What is recommended to everybody: no world here is large enough for two."""


def get_gateway(_: Api, call: Call) -> Any:
    return {"url": _url(call)}


def get_gateway_bot(api: Api, call: Call) -> Any:
    limit = api.world.session_start_limit(call.application.id)
    return {
        "url": _url(call),
        "shards": SHARDS,
        "session_start_limit": {
            "total": limit.total,
            "remaining": limit.remaining,
            "reset_after": limit.reset_after_ms,
            "max_concurrency": limit.max_concurrency,
        },
    }


def _url(call: Call) -> str:
    return f"ws://{call.host}{GATEWAY_PATH}"


ROUTES: Final = (
    Route("GET", "/gateway", get_gateway, open_to_all=True),
    Route("GET", "/gateway/bot", get_gateway_bot),
)

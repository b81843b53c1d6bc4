"""The way of every API request: who asks, may it be asked now, what does it carry, what is the answer.

Owns that order and the headers of answers. Must not know what any route does.
"""

from typing import Any, Final

import msgspec
from litestar import Request, Response

from clankie.sim.errors import UNAUTHORIZED, ApiError
from clankie.sim.faults import Fault, FaultKind, Faults
from clankie.sim.rest.call import Answer, Api, Call, Caller, Route
from clankie.sim.rest.callers import Callers, unauthorized
from clankie.sim.rest.limits import RateLimits, Verdict
from clankie.sim.rest.reading import read_body
from clankie.sim.rest.refusals import VIA, body_of, failed, limited

_NO_CONTENT: Final = 204
_TOO_MANY_REQUESTS: Final = 429


class Pipeline:
    """Serves routes.

    Args:
        api: what routes act on.
        callers: who is who.
        limits: who may ask how often.
        faults: what goes wrong on purpose.
    """

    def __init__(self, api: Api, callers: Callers, limits: RateLimits, faults: Faults) -> None:
        self._api = api
        self._callers = callers
        self._limits = limits
        self._faults = faults

    async def serve(self, route: Route, request: Request[Any, Any, Any]) -> Response[bytes]:
        """Answer one request.

        1. Who asks is known, and may use this route at all.
        2. A fault that was switched on answers instead: nothing below happens.
        3. The rate limits grant it.
        4. The body is read within its bounds, and the route is run.
        """
        try:
            caller = self._admit(route, request)  # 1
        except ApiError as error:
            return _refused(error, {})
        fault = self._fault(request, caller)  # 2
        if fault is not None:
            return self._fail(route, fault)
        verdict = self._ask(route, request, caller)  # 3
        if not verdict.granted:
            return _respond(_TOO_MANY_REQUESTS, limited(verdict), verdict.headers)
        try:
            answer = await self._run(route, request, caller)  # 4
        except ApiError as error:
            return _refused(error, verdict.headers)
        return _respond(answer.status, answer.content, verdict.headers)

    def _admit(self, route: Route, request: Request[Any, Any, Any]) -> Caller:
        caller = self._callers.by_header(request.headers.get("authorization"))
        if route.open_to_all:
            return caller
        if caller.user_id is None:
            raise unauthorized()
        if caller.scopes is not None and route.scope not in caller.scopes:
            raise ApiError(403, UNAUTHORIZED, "Missing Access: the token's scopes do not cover it")
        return caller

    def _fault(self, request: Request[Any, Any, Any], caller: Caller) -> Fault | None:
        application = caller.application
        application_id = (
            self._callers.application_behind(request.path_params)
            if application is None
            else application.id
        )
        return self._faults.take_request(application_id, request.method, request.scope["path"])

    def _fail(self, route: Route, fault: Fault) -> Response[bytes]:
        if fault.kind is FaultKind.SERVER_ERROR:
            return _respond(fault.status, failed(fault.status), {})
        verdict = self._limits.refusal(route.bucket, fault.seconds, fault.scope)
        return _respond(_TOO_MANY_REQUESTS, limited(verdict), verdict.headers)

    def _ask(self, route: Route, request: Request[Any, Any, Any], caller: Caller) -> Verdict:
        major = "/".join(request.path_params[name] for name in route.major)
        return self._limits.ask(
            caller.name, route.bucket, major, counts_globally=not route.open_to_all
        )

    async def _run(self, route: Route, request: Request[Any, Any, Any], caller: Caller) -> Answer:
        body = await read_body(request)
        call = Call(
            caller,
            request.path_params,
            dict(request.query_params),
            body.fields,
            body.files,
            request.headers.get("host", ""),
        )
        answer = route.handle(self._api, call)
        if isinstance(answer, Answer):
            return answer
        return Answer(_NO_CONTENT) if answer is None else Answer(200, answer)


def _refused(error: ApiError, headers: dict[str, str]) -> Response[bytes]:
    return _respond(error.status, body_of(error), headers)


def _respond(status: int, content: Any, headers: dict[str, str]) -> Response[bytes]:
    return Response(
        b"" if content is None else msgspec.json.encode(content),
        status_code=status,
        media_type="application/json",
        headers=VIA | headers,
    )

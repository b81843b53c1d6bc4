"""The descriptions of both ports: valid, complete, and kept by the running fleet."""

import asyncio
import json
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis.specs.openapi.schemas import OpenApiSchema

from clankie.fleet.admin.bearer import admin_bearer
from fleet.support import RunningFleet

EXAMPLES = 8
"""Requests an operation."""
PUBLIC = {
    *(
        f"/fleet/v1/body/{name}"
        for name in ("pairing-key", "host-credential", "verify-keys", "discord-key")
    ),
    *("/fleet/v1/edge/permits", "/fleet/v1/edge/charges", "/fleet/v1/edge/routes"),
    *("/fleet/v1/keys", "/health"),
}


async def described(fleet: RunningFleet) -> OpenApiSchema:
    answer = await fleet.ask("GET", "/openapi/openapi.json")
    assert answer.status == 200
    schema = schemathesis.openapi.from_dict(answer.json)
    assert isinstance(schema, OpenApiSchema)
    return schema


async def test_it_is_valid_and_describes_every_call(plain_fleet: RunningFleet) -> None:
    schema = await described(plain_fleet)
    schema.validate()
    assert set(schema) == PUBLIC


@pytest.mark.parametrize("path", sorted(PUBLIC))
async def test_the_fleet_answers_strangers_as_it_is_described(
    plain_fleet: RunningFleet, path: str
) -> None:
    schema = await described(plain_fleet)
    operation = next(iter(schema[path].values()))

    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy())
    def ask(case: schemathesis.Case[Any]) -> None:
        case.call_and_validate(base_url=plain_fleet.origin)

    await asyncio.to_thread(ask)


async def test_the_administration_is_described_to_administrators(
    plain_fleet: RunningFleet,
) -> None:
    url = f"http://127.0.0.1:{plain_fleet.role.local_port}/openapi/openapi.json"
    headers = {"authorization": f"Bearer {admin_bearer(plain_fleet.broker)}"}
    answer = await plain_fleet._http.get(url, headers=headers)
    schema = schemathesis.openapi.from_dict(json.loads(answer.content))
    schema.validate()
    assert len(set(schema)) == 29  # 28 calls and /metrics
    assert (await plain_fleet._http.get(url)).status_code == 401

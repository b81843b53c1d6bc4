"""The description of what is not sealed: valid, complete, and kept by the running body."""

import asyncio
import json
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis.specs.openapi.schemas import OpenApiSchema

from body.http_client import once
from body.machine import Machine
from clankie.runtime.telemetry import METRICS_CONTENT_TYPE

EXAMPLES = 15
"""Requests an operation: none of them takes parameters, so more would only repeat."""


async def described(machine: Machine) -> OpenApiSchema:
    answer = await once(machine.port, "GET", "/openapi/openapi.json")
    assert answer.status == 200
    schema = schemathesis.openapi.from_dict(json.loads(answer.body))
    assert isinstance(schema, OpenApiSchema)
    return schema


async def test_it_is_valid_and_describes_all_that_is_not_sealed(machine: Machine) -> None:
    schema = await described(machine)
    schema.validate()
    assert set(schema) == {"/health", "/metrics"}


@pytest.mark.parametrize("path", ["/health", "/metrics"])
async def test_the_body_answers_as_it_is_described(machine: Machine, path: str) -> None:
    operation = (await described(machine))[path]["GET"]
    base_url = f"http://127.0.0.1:{machine.port}"

    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy())
    def ask(case: schemathesis.Case[Any]) -> None:
        case.call_and_validate(base_url=base_url)

    await asyncio.to_thread(ask)


async def test_measurements_name_their_character_set_once(machine: Machine) -> None:
    answer = await once(machine.port, "GET", "/metrics")
    assert answer.headers["content-type"] == METRICS_CONTENT_TYPE
    assert METRICS_CONTENT_TYPE.count("charset=") == 1


async def test_what_is_not_described_is_refused_by_code(machine: Machine) -> None:
    for method, path, status, code in (
        ("POST", "/health", 405, "method_not_allowed"),
        ("DELETE", "/metrics", 405, "method_not_allowed"),
        ("GET", "/docs", 404, "not_found"),
        ("GET", "/%00%ff", 404, "not_found"),
    ):
        answer = await once(machine.port, method, path)
        assert (answer.status, json.loads(answer.body)) == (status, {"error": code}), path

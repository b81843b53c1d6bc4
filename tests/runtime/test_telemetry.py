"""A role's own registry: what the process costs, and how late the event loop is."""

import asyncio
import time

from prometheus_client import REGISTRY, Counter
from prometheus_client.parser import text_string_to_metric_families

from clankie.runtime.clock import SystemClock
from clankie.runtime.telemetry import METRICS_CONTENT_TYPE, SAMPLE_SECONDS, Metrics


def values(metrics: Metrics) -> dict[str, float]:
    families = text_string_to_metric_families(metrics.exposition().decode())
    return {sample.name: sample.value for family in families for sample in family.samples}


def test_the_process_and_the_build_are_measured() -> None:
    metrics = Metrics(SystemClock(), "1.2.3")
    measured = values(metrics)
    assert measured["process_resident_memory_bytes"] > 0
    assert measured["clankie_build_info"] == 1
    assert 'version="1.2.3"' in metrics.exposition().decode()
    assert METRICS_CONTENT_TYPE.startswith("text/plain; version=")


def test_two_roles_in_one_process_share_nothing_and_leave_the_global_registry_alone() -> None:
    first, second = Metrics(SystemClock(), "1"), Metrics(SystemClock(), "1")
    Counter("clankie_turns", "Turns.", registry=first.registry).inc()
    assert values(first)["clankie_turns_total"] == 1
    assert "clankie_turns_total" not in values(second)
    assert REGISTRY.get_sample_value("clankie_turns_total") is None


async def test_a_loop_that_was_held_up_shows_by_how_much() -> None:
    metrics = Metrics(SystemClock(), "1")
    assert metrics.loop_delay_seconds == 0
    metrics.start()
    await asyncio.sleep(0)
    time.sleep(SAMPLE_SECONDS + 0.2)  # noqa: ASYNC251 - the stall under test
    await asyncio.sleep(0.001)  # the timer that is due by now runs first
    metrics.stop()
    assert 0.15 < values(metrics)["clankie_event_loop_delay_seconds"] < 5


async def test_a_stopped_watch_leaves_no_timer_behind() -> None:
    metrics = Metrics(SystemClock(), "1")
    metrics.stop()
    metrics.start()
    metrics.stop()
    metrics.stop()
    assert metrics.loop_delay_seconds == 0

"""A role's life: ready, asked to stop, its grace, cut short; and what failing to start leaves behind."""

import asyncio
import resource
import signal
import subprocess
import sys

import pytest

from clankie.runtime.errors import ClankieError, RoleFailed
from clankie.runtime.lifecycle import Shutdown, live


class Recorder:
    """A role that writes down what is asked of it."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.started = asyncio.Event()
        self.stopping = asyncio.Event()
        self.may_start = asyncio.Event()
        self.may_stop = asyncio.Event()
        self.may_start.set()
        self.may_stop.set()
        self.error: BaseException | None = None
        self.shutdown: Shutdown | None = None

    async def start(self, shutdown: Shutdown) -> None:
        self.calls.append("start")
        self.shutdown = shutdown
        self.started.set()
        await self.may_start.wait()
        if self.error:
            raise self.error
        self.calls.append("ready")

    async def stop(self, grace_seconds: float) -> None:
        self.calls.append(f"stop {grace_seconds:g}")
        self.stopping.set()
        if grace_seconds:
            await self.may_stop.wait()
        self.calls.append("stopped")


async def test_a_role_starts_and_when_asked_stops_within_its_grace() -> None:
    role, shutdown = Recorder(), Shutdown()
    living = asyncio.ensure_future(live(role, 20, shutdown))
    await role.started.wait()
    assert not living.done()
    shutdown.request()
    await living
    assert role.calls == ["start", "ready", "stop 20", "stopped"]


async def test_a_second_wish_cuts_the_grace_short() -> None:
    role, shutdown = Recorder(), Shutdown()
    role.may_stop.clear()
    living = asyncio.ensure_future(live(role, 600, shutdown))
    await role.started.wait()
    shutdown.on_signal(signal.SIGTERM)
    await role.stopping.wait()
    assert role.calls[-1] == "stop 600"
    shutdown.on_signal(signal.SIGINT)
    await living
    assert role.calls == ["start", "ready", "stop 600", "stop 0", "stopped"]


async def test_a_wish_to_stop_during_the_start_cancels_it_and_cleans_up() -> None:
    role, shutdown = Recorder(), Shutdown()
    role.may_start.clear()
    living = asyncio.ensure_future(live(role, 20, shutdown))
    await role.started.wait()
    shutdown.request()
    await living
    assert role.calls == ["start", "stop 20", "stopped"]


async def test_a_start_that_fails_is_cleaned_up_and_told() -> None:
    role = Recorder()
    role.error = ClankieError("port taken", next_step="Choose another.")
    with pytest.raises(ClankieError, match="port taken"):
        await live(role, 20, Shutdown())
    assert role.calls == ["start", "stop 0", "stopped"]


async def test_a_role_that_cannot_go_on_stops_in_order_and_the_first_reason_is_told() -> None:
    role, shutdown = Recorder(), Shutdown()
    living = asyncio.ensure_future(live(role, 20, shutdown))
    await role.started.wait()
    shutdown.fail(RoleFailed("the disk is gone", next_step="Look at it."))
    shutdown.fail(RoleFailed("and more", next_step="Look."))
    with pytest.raises(RoleFailed, match="the disk is gone"):
        await living
    assert role.calls == ["start", "ready", "stop 20", "stopped"]


PROCESS = """
import asyncio, sys
from clankie.runtime.lifecycle import run_role
from clankie.runtime.logs import configure_logging

class Role:
    async def start(self, shutdown):
        print("ready", flush=True)
    async def stop(self, grace_seconds):
        print(f"stop {grace_seconds:g}", flush=True)
        if grace_seconds or "stuck" in sys.argv:
            await asyncio.Event().wait() if grace_seconds > 5 or "stuck" in sys.argv else None
        print("stopped", flush=True)

configure_logging("error", "json", sys.stderr)
run_role(Role(), float(sys.argv[1]))
print("done", flush=True)
"""


def signalled(
    arguments: list[str], signals: list[tuple[signal.Signals, str]]
) -> tuple[int, list[str]]:
    """Run a role's process; send each signal once the line before it was printed."""
    process = subprocess.Popen(
        [sys.executable, "-c", PROCESS, *arguments], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    lines: list[str] = []
    for number, after in signals:
        while after not in lines:
            lines.append(process.stdout.readline().strip())
        process.send_signal(number)
    lines += process.stdout.read().split("\n")
    process.stdout.close()
    return process.wait(), [line for line in lines if line]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_a_process_in_order_with_exit_code_0(number: signal.Signals) -> None:
    code, lines = signalled(["3"], [(number, "ready")])
    assert (code, lines) == (0, ["ready", "stop 3", "stopped", "done"])


def test_a_second_signal_hurries_a_process() -> None:
    code, lines = signalled(["600"], [(signal.SIGTERM, "ready"), (signal.SIGTERM, "stop 600")])
    assert (code, lines) == (0, ["ready", "stop 600", "stop 0", "stopped", "done"])


def test_a_third_signal_ends_a_process_that_is_stuck() -> None:
    code, lines = signalled(
        ["600", "stuck"],
        [(signal.SIGTERM, "ready"), (signal.SIGTERM, "stop 600"), (signal.SIGINT, "stop 0")],
    )
    assert code == 128 + signal.SIGINT
    assert lines == ["ready", "stop 600", "stop 0"]


def test_a_role_may_open_more_files_than_a_shell_gives() -> None:
    script = (
        "import resource\n"
        "from clankie.runtime.lifecycle import _raise_open_files_limit\n"
        "hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]\n"
        "resource.setrlimit(resource.RLIMIT_NOFILE, (64, hard))\n"
        "_raise_open_files_limit()\n"
        "print(resource.getrlimit(resource.RLIMIT_NOFILE)[0])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    expected = 65_536 if hard == resource.RLIM_INFINITY else min(65_536, hard)
    assert int(done.stdout) == expected

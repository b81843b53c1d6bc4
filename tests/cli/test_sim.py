"""`clankie sim`: it says where the page is, runs a bot as it is, and each error ends with what to do."""

import asyncio
import importlib.util
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

from clankie.cli import sim_script
from clankie.cli.sim_way import NO_ROLES, TracedWay, hop_of
from clankie.runtime.config import load_config
from clankie.runtime.errors import ClankieError
from clankie.runtime.settings import SimConfig

PROGRAM = "from clankie.cli.main import run; run()"
BOT = """
import os, sys, discord
client = discord.Client(intents=discord.Intents.default())
@client.event
async def on_ready():
    channel = next(one for one in client.get_all_channels() if one.name == "general")
    sent = await channel.send(" ".join(sys.argv[1:]))
    print(__name__, client.user, (await channel.fetch_message(sent.id)).content, flush=True)
    await client.close()
client.run(os.environ["DISCORD_TOKEN"], log_handler=None)
"""


class Running(NamedTuple):
    """A simulator in a process of its own."""

    process: "subprocess.Popen[str]"
    port: int
    said: str


def environ(home: Path, **more: str) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH",)}
    return kept | {"CLANKIE_HOME": str(home), "CLANKIE_LOG_FORMAT": "json"} | more


def clankie(home: Path, *arguments: str, **more: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-c", PROGRAM, *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env=environ(home, **more),
    )


@pytest.fixture(scope="module")
def sim(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    home = tmp_path_factory.mktemp("home")
    home.chmod(0o700)
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, "sim", "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=environ(home),
    )
    assert process.stdout is not None
    said = ""
    while "Next:" not in said:
        line = process.stdout.readline()
        assert line, said
        said += line
    found = re.search(r"http://127\.0\.0\.1:(\d+)/", said)
    assert found
    yield Running(process, int(found[1]), said)
    process.send_signal(signal.SIGTERM)
    assert process.wait(20) == 0
    process.stdout.close()


def test_it_says_where_the_page_is_the_bots_token_and_what_to_type(sim: Running) -> None:
    assert f"page   http://127.0.0.1:{sim.port}/" in sim.said
    assert re.search(r"bot    Helper, DISCORD_TOKEN=\S+\.\S+\.\S+", sim.said)
    assert f"clankie sim run --port {sim.port} your_bot.py" in sim.said.splitlines()[-1]


def test_a_script_runs_as_python_would_run_it_with_discord_being_the_simulator(
    sim: Running, home: Path, tmp_path: Path
) -> None:
    script = tmp_path / "bot.py"
    script.write_text(BOT)
    done = clankie(home, "sim", "run", "--port", str(sim.port), str(script), "--loud", "hello")
    assert done.stdout.strip() == "__main__ helper --loud hello", done.stderr
    assert done.returncode == 0


def test_a_script_that_fails_shows_its_own_traceback_and_what_to_do(
    sim: Running, home: Path, tmp_path: Path
) -> None:
    script = tmp_path / "bot.py"
    script.write_text(BOT.replace('os.environ["DISCORD_TOKEN"]', '"wrong"'))
    done = clankie(home, "sim", "run", "--port", str(sim.port), str(script))
    assert done.returncode == 1
    assert "LoginFailure" in done.stderr
    assert "DISCORD_TOKEN" in done.stderr.splitlines()[-1]
    assert "bug in clankie" not in done.stderr
    script.write_text("import sys; sys.exit(7)")
    assert clankie(home, "sim", "run", "--port", str(sim.port), str(script)).returncode == 7


def test_a_token_that_is_not_the_simulators_is_told_before_the_script_runs(
    sim: Running, home: Path, tmp_path: Path
) -> None:
    script = tmp_path / "bot.py"
    script.write_text("print('ran')")
    arguments = ("sim", "run", "--port", str(sim.port), str(script))
    done = clankie(home, *arguments, DISCORD_TOKEN="other")
    assert done.returncode == 1
    assert "env -u DISCORD_TOKEN" in done.stderr
    assert "ran" not in done.stdout
    assert "other" not in done.stderr
    assert clankie(home, *arguments[:2], "--bot", "Nobody", *arguments[2:]).returncode == 1
    named = clankie(home, *arguments[:2], "--bot", "Helper", *arguments[2:], DISCORD_TOKEN="other")
    assert named.stdout.strip() == "ran"


def test_no_simulator_no_script_and_a_taken_port_are_told_with_what_to_do(
    sim: Running, home: Path, tmp_path: Path
) -> None:
    script = tmp_path / "bot.py"
    script.write_text("print('ran')")
    away = clankie(home, "sim", "run", "--port", "1", str(script))
    assert "Next: Start it in another terminal: clankie sim" in away.stderr
    missing = clankie(home, "sim", "run", "--port", str(sim.port), str(tmp_path / "no.py"))
    assert "there is no script" in missing.stderr
    taken = clankie(home, "sim", "--port", str(sim.port))
    assert "taken by another process" in taken.stderr
    assert "--port" in taken.stderr.splitlines()[-1]
    other = clankie(home, "sim", CLANKIE_SIM_HOST="0.0.0.0")  # noqa: S104 - refused is what is tested
    assert "keep 127.0.0.1" in other.stderr
    assert {each.returncode for each in (away, missing, taken, other)} == {1}


def test_without_discord_py_the_next_step_installs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "bot.py"
    script.write_text("")
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(ClankieError) as refused:
        sim_script.run_script(SimConfig(), script, [], None)
    assert "pip install discord.py" in refused.value.next_step


def test_something_else_on_the_port_is_not_taken_for_a_simulator(
    home: Path, tmp_path: Path
) -> None:
    (tmp_path / "bot.py").write_text("print('ran')")
    server = subprocess.Popen(
        [sys.executable, "-u", "-m", "http.server", "0", "--bind", "127.0.0.1"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        cwd=tmp_path,
    )
    assert server.stdout is not None
    port = re.search(r"port (\d+)", server.stdout.readline())
    assert port
    done = clankie(home, "sim", "run", "--port", port[1], str(tmp_path / "bot.py"))
    server.kill()
    server.wait()
    server.stdout.close()
    assert "is no simulated Discord" in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize(
    ("line", "what", "detail"),
    [
        ("charged for tn_3fmlglwd5kgnacudvpfh", "charged", "tn_3fmlglwd5kgnacudvpfh"),
        (
            "permit granted ed_5qr4mib5iqin3npdulgz permit Zlexe-d1VQSRGP-GoF7SXg",
            "permit granted",
            "ed_5qr4mib5iqin3npdulgz · permit Zlexe-d1VQSRGP-GoF7SXg",
        ),
        (
            "forwarded 1199 bytes, answered 117 bytes, status 200, permit Zlexe-d1VQSRGP-GoF7SXg",
            "forwarded 1199 bytes, answered 117 bytes, status 200",
            "permit Zlexe-d1VQSRGP-GoF7SXg",
        ),
        ("settled as reply", "settled as reply", ""),
    ],
)
def test_a_line_of_the_trace_is_shown_with_its_ids_apart(line: str, what: str, detail: str) -> None:
    hop = hop_of(5, "gateway", line)
    assert (hop.at_ms, hop.role, hop.what, hop.detail) == (5, "gateway", what, detail)


def test_without_any_role_the_way_says_how_to_start_them(home: Path) -> None:
    variables: Mapping[str, str] = {"CLANKIE_HOME": str(home)}
    way = asyncio.run(TracedWay(load_config(variables).config).hops("discord:1"))
    assert (way.hops, way.notes) == ([], [NO_ROLES])
    assert not list(home.iterdir())  # asking made nothing

"""What the README shows is what happens: its commands and programs are run, and the demo's output is the demo's."""

import ast
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from cli.private import PORTS, free_port

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
BIN = Path(sys.executable).parent
# What differs each time: the ends of ciphertexts, digests and ids.
RANDOM = re.compile(r"[\w:-]{10}…[\w-]{5}")
FLEET_PORT = "8790"
SECONDS = 60
QUESTION = "Where is the spare key?"
STATUS_WORD = {"cli": "clankie up", "protocol": "contract", "runtime": "SQLite", "sim": "simulated"}
"""What a part is called there, when not by its folder's name."""


def blocks(language: str) -> list[str]:
    """The README's code blocks in one language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


def commands(word: str) -> str:
    """The one shell block with the word."""
    (block,) = (block for block in blocks("sh") if word in block)
    return str(block)


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """Where a reader types."""
    folder = tmp_path / "clone"
    folder.mkdir()
    return folder


@pytest.fixture
def environ(tmp_path: Path, clone: Path) -> dict[str, str]:
    ports = {f"CLANKIE_{name}": str(free_port()) for name in PORTS}
    return ports | {
        "PATH": f"{BIN}:{os.environ['PATH']}",
        "HOME": str(tmp_path),
        "PWD": str(clone),
        "TMPDIR": str(tmp_path),
        "COLUMNS": "80",
        "LANG": "C.UTF-8",
    }


def run(script: str, environ: dict[str, str]) -> str:
    """A block as it is typed, in the clone; what it prints."""
    done = subprocess.run(
        ["/bin/bash", "-eu", "-c", script],
        cwd=environ["PWD"],
        env=environ,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def unable(script: str, environ: dict[str, str]) -> str:
    """A block that cannot do what it should; what it says of that."""
    done = subprocess.run(
        ["/bin/bash", "-eu", "-c", script],
        cwd=environ["PWD"],
        env=environ,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert (done.returncode, done.stdout) == (1, "")
    return done.stderr


@contextmanager
def running(script: str, environ: dict[str, str], ready: str) -> Iterator[list[str]]:
    """A block whose last command serves until it is stopped; gives its log, which is whole at the end."""
    log: list[str] = []
    with subprocess.Popen(
        [
            "/bin/bash",
            "-eu",
            "-c",
            re.sub(r"^(clankie .*)\n\Z", r"exec \1", script, flags=re.MULTILINE),
        ],
        cwd=environ["PWD"],
        env=environ,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr is not None
        try:
            for line in process.stderr:
                log.append(line)
                if ready in line:
                    break
            else:
                raise AssertionError(f"it ended without {ready}: {log}")
            yield log
            process.send_signal(signal.SIGTERM)
            log += process.stderr.readlines()
            assert process.wait(SECONDS) == 0, log
        finally:
            process.kill()


def program(name: str, replaced: str = "", by: str = "") -> str:
    """The one Python block that is called so. What is replaced stands in it once."""
    (block,) = (block for block in blocks("python") if block.startswith(f"# {name}\n"))
    assert not replaced or block.count(replaced) == 1
    return str(block.replace(replaced, by) if replaced else block)


def test_the_demos_output_is_what_the_demo_prints(environ: dict[str, str]) -> None:
    shown = RANDOM.sub("random", blocks("text")[0]).splitlines()
    printed = iter(RANDOM.sub("random", run("clankie demo </dev/null", environ)).splitlines())
    assert shown[0] == "$ make demo"
    for line in shown[1:]:
        if line.strip() != "…":
            assert line in printed, f"not printed, or not in this order: {line}"


def test_a_private_system_answers_as_it_says(
    environ: dict[str, str], clone: Path, tmp_path: Path
) -> None:
    (clone / ".venv").symlink_to(BIN.parent)
    environ["CLANKIE_HOME"] = str(tmp_path / "home")
    with running(commands("clankie up"), environ, "Ready."):
        assert run(commands('clankie say "hello"'), environ) == "hello\n"


def test_each_role_by_itself_and_a_program_beside_them_deliver_as_it_says(
    environ: dict[str, str], clone: Path, tmp_path: Path
) -> None:
    """Four machines, as far as one has room for them: a home each, and nothing shared but what is carried."""
    port = environ["CLANKIE_FLEET_PORT"]
    # It still says what it hears, and can be told to fail.
    environ["CLANKIE_CAPTAIN_OPTIONS_SCRIPT"] = "messages"
    (clone / "deliver.py").write_text(program("deliver.py", FLEET_PORT, port))
    gateway = commands("clankie gateway serve")
    assert gateway.count(FLEET_PORT) == 1
    with ExitStack() as stack:
        logs = [
            stack.enter_context(running(commands("clankie fleet serve"), environ, "fleet_ready")),
            stack.enter_context(
                running(gateway.replace(FLEET_PORT, port), environ, "gateway_ready")
            ),
            stack.enter_context(running(commands("clankie body serve"), environ, "registered")),
        ]
        assert run(commands('--server 1234 "Where'), environ).endswith(f"\n{QUESTION}\n")
        assert run(commands("python deliver.py"), environ) == f"{QUESTION}\n"
        delivering = commands("python deliver.py")
        failing = delivering.replace(QUESTION, "!fail")
        token = re.compile(r"EDGE_TOKEN=\S+ .*\) ")
        for script, told in (
            (failing, "ended as unavailable"),
            (token.sub("EDGE_TOKEN=void ", delivering), "edge"),
            (token.sub("", delivering), "a token"),
            (delivering.replace(f'"{QUESTION}"', ""), "and a message"),
            (delivering.replace(QUESTION, ""), "blank"),
        ):
            error, next_step = unable(script, environ).splitlines()
            assert error.startswith("Error: ")
            assert told in error
            assert next_step.startswith("Next: ")
    assert QUESTION not in "".join(line for log in logs for line in log)
    homes = [path for path in tmp_path.glob("clankie-*") if path.is_dir()]
    assert {home.name for home in homes} == {
        f"clankie-{x}" for x in ("fleet", "gateway", "body", "edge", "handover")
    }
    files = [path for home in homes for path in home.rglob("*") if path.is_file()]
    assert not [path for path in files if QUESTION.encode() in path.read_bytes()]
    # No secret came to lie where it could be committed, nor where others can read it.
    assert [path.name for path in clone.iterdir()] == ["deliver.py"]
    handover = tmp_path / "clankie-handover"
    assert handover.stat().st_mode & 0o777 == 0o700
    assert (handover / "edge.json").stat().st_mode & 0o777 == 0o600


def test_the_library_seals_permits_and_opens_in_ten_lines_without_a_server(
    environ: dict[str, str], clone: Path
) -> None:
    (clone / "seal.py").write_text(program("seal.py"))
    assert run("python seal.py", environ) == f"You said: {QUESTION}\n"
    used = ast.parse(program("seal.py")).body
    assert len([line for line in used if not isinstance(line, ast.Import | ast.ImportFrom)]) <= 10


def test_secrets_that_the_fleet_gives_out_are_not_committed_by_accident() -> None:
    ignored = (ROOT / ".gitignore").read_text().splitlines()
    given_out = set(re.findall(r"[\w-]+\.json", commands("clankie fleet serve")))
    assert given_out == {"bootstrap.json", "edge.json"}
    assert given_out <= set(ignored)


def test_its_status_names_every_part_of_the_product() -> None:
    status = README.partition("## Status")[2]
    parts = [path.parent.name for path in (ROOT / "src" / "clankie").glob("*/__init__.py")]
    told = {part for part in parts if re.search(rf"\b{STATUS_WORD.get(part, part)}\b", status)}
    assert sorted(set(parts) - told) == []


def test_its_configuration_is_taken(environ: dict[str, str], tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / "config.toml").write_text(blocks("toml")[0])
    plain = {name: environ[name] for name in ("PATH", "HOME", "PWD")}
    shown = run("clankie config show", plain | {"CLANKIE_HOME": str(home)})
    assert re.search(
        r"^captain.options.script +slow 2 reply Done\. +config.toml:\d+$", shown, re.MULTILINE
    )

"""Every line goes through one pipeline: levels, forms, redaction, no content, never a failure."""

import asyncio
import gc
import io
import json
import logging
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
import structlog
from websockets.frames import CloseCode

from clankie.protocol.errors import ProtocolError
from clankie.runtime.errors import ClankieError
from clankie.runtime.exceptions import describe_exception
from clankie.runtime.logs import configure_logging

MARKER = "marker-7f3a-content"
log = structlog.get_logger("clankie.tests")


@pytest.fixture(autouse=True)
def restored_logging() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers = handlers
    root.setLevel(level)
    structlog.reset_defaults()


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def lines(stream: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_a_line_is_json_with_time_level_event_values_and_logger() -> None:
    stream = io.StringIO()
    configure_logging("info", "auto", stream)
    log.info("turn_settled", delivery_id="discord:1", ms=12)
    (line,) = lines(stream)
    assert line.pop("timestamp").endswith("Z")
    assert line == {
        "level": "info",
        "event": "turn_settled",
        "delivery_id": "discord:1",
        "ms": 12,
        "logger": "clankie.tests",
    }


def test_a_terminal_gets_lines_for_people_and_a_pipe_gets_json() -> None:
    terminal, pipe = Terminal(), io.StringIO()
    configure_logging("info", "auto", terminal)
    log.info("turn_settled", ms=12)
    configure_logging("info", "auto", pipe)
    log.info("turn_settled", ms=12)
    assert "turn_settled\x1b[0m  ms=12\n" in terminal.getvalue()
    assert lines(pipe)[0]["ms"] == 12


def test_a_number_that_has_a_name_is_a_number_in_both_forms() -> None:
    for form, shown in (("console", "code=1001\n"), ("json", '"code":1001,')):
        stream = io.StringIO()
        configure_logging("info", form, stream)  # type: ignore[arg-type]
        log.info("tunnel_closed", code=CloseCode.GOING_AWAY)
        assert shown in stream.getvalue()


def test_lines_below_the_level_are_not_written() -> None:
    stream = io.StringIO()
    configure_logging("warning", "json", stream)
    log.debug("a")
    log.info("b")
    log.warning("c")
    log.error("d")
    assert [line["event"] for line in lines(stream)] == ["c", "d"]


def test_a_logger_made_before_follows_a_later_configuration() -> None:
    first, second = io.StringIO(), io.StringIO()
    bound = log.bind(role="body")
    configure_logging("info", "json", first)
    log.info("a")
    configure_logging("debug", "json", second)
    log.debug("b")
    assert len(lines(first)) == len(lines(second)) == 1
    assert bound is not None


def test_secrets_are_hidden_in_every_part_of_a_line() -> None:
    stream = io.StringIO()
    for form in ("json", "console"):
        configure_logging("info", form, stream)
        structlog.contextvars.bind_contextvars(bearer="hunter2")
        log.info(
            "login_with Bearer hunter2hunter2",
            token="hunter2",
            nested={"a": [{"password": "hunter2"}]},
        )
        log.bind(secret="hunter2").error("x", url="postgresql://u:hunter2@db")
        logging.getLogger("library").error("password=%s", "hunter2")
        structlog.contextvars.clear_contextvars()
    assert len(stream.getvalue().splitlines()) == 6
    assert "hunter2" not in stream.getvalue()


def test_libraries_are_heard_from_warning_up_whatever_our_level() -> None:
    stream = io.StringIO()
    configure_logging("debug", "json", stream)
    for name in ("sqlalchemy.engine", "asyncio", "discord.gateway", "httpx2", "alembic"):
        logging.getLogger(name).debug("carries %s", MARKER)
        logging.getLogger(name).info("carries %s", MARKER)
    assert stream.getvalue() == ""
    logging.getLogger("asyncio").warning("slow %d", 3)  # as asyncio itself does
    (line,) = lines(stream)
    assert (line["event"], line["level"], line["logger"]) == ("slow 3", "warning", "asyncio")


def test_of_what_a_library_fills_into_its_words_only_numbers_are_shown() -> None:
    stream = io.StringIO()
    configure_logging("info", "json", stream)
    library = logging.getLogger("library")
    library.error("%s of %d: %r took %.1f", MARKER, 3, [MARKER], 1.25)
    library.error("first line\nfuture: <Task exception=ValueError(%s)>" % MARKER)  # noqa: UP031
    library.error("%(name)s", {"name": MARKER})
    library.error("%d", MARKER)
    library.error(ValueError(MARKER))
    assert [line["event"] for line in lines(stream)] == [
        "[str] of 3: '[list]' took 1.2",
        "first line",
        "%(name)s",
        "%d",
        "[ValueError]",
    ]


async def test_a_task_whose_exception_nobody_took_is_logged_without_its_words() -> None:
    stream = io.StringIO()
    configure_logging("info", "json", stream)

    async def fail() -> None:
        raise ValueError(MARKER)

    await asyncio.wait({asyncio.ensure_future(fail())})
    gc.collect()
    (line,) = lines(stream)
    assert line["event"] == "Task exception was never retrieved"
    assert line["exception"].endswith("\nValueError")
    assert MARKER not in stream.getvalue()


def test_the_http_server_is_not_heard_about_strangers_broken_requests() -> None:
    stream = io.StringIO()
    configure_logging("debug", "json", stream)
    logging.getLogger("uvicorn.error").warning("Invalid HTTP request received.")
    assert stream.getvalue() == ""


def test_an_exception_shows_where_and_what_class_but_no_value() -> None:
    stream = io.StringIO()
    configure_logging("info", "json", stream)
    content = MARKER
    try:
        int(content)
    except ValueError:
        log.exception("turn_failed")
        logging.getLogger("library").exception("failed")
    for line in lines(stream):
        assert "test_logs.py" in line["exception"]
        assert line["exception"].endswith("\nValueError")
    assert MARKER not in stream.getvalue()


def test_words_of_our_own_errors_and_of_the_system_are_shown() -> None:
    assert describe_exception(OSError(28, "No space left")) == "OSError: [Errno 28] No space left"
    assert describe_exception(ClankieError("no", next_step="Do.")).endswith("ClankieError: no")
    assert describe_exception(ProtocolError("too long")).endswith("ProtocolError: too long")


@pytest.mark.parametrize(
    "kind", [ValueError, KeyError, RuntimeError, TypeError, UnicodeError, Exception]
)
def test_words_of_other_errors_are_not_shown(kind: type[Exception]) -> None:
    assert describe_exception(kind(MARKER)) == kind.__name__


def test_secrets_in_the_words_that_are_shown_are_hidden() -> None:
    assert "hunter2" not in describe_exception(OSError("no route to postgresql://u:hunter2@db"))


def test_causes_and_groups_are_followed_without_their_words() -> None:
    try:
        try:
            raise KeyError(MARKER)  # noqa: TRY301 - the chain is the point
        except KeyError as cause:
            members = [ValueError(MARKER), OSError(5, "io")]
            raise ExceptionGroup(MARKER, members) from cause
    except ExceptionGroup as group:
        text = describe_exception(group)
    for part in ("KeyError", "and then", "ExceptionGroup", "ValueError", "OSError: [Errno 5] io"):
        assert part in text
    assert MARKER not in text


def test_a_chain_that_bites_its_tail_ends() -> None:
    first, second = ValueError(), KeyError()
    first.__cause__, second.__cause__ = second, first
    assert describe_exception(first).count("Error") == 2


def test_nothing_that_is_logged_can_break_the_line() -> None:
    class Broken:
        def __repr__(self) -> str:
            raise RuntimeError(MARKER)

    stream = io.StringIO()
    configure_logging("info", "json", stream)
    log.info(
        "x",
        a="\ud83d",
        b=float("inf"),
        c=2**90,
        d=Broken(),
        e={1: 2},
        f="\n{",
        level="y",
        event_="z",
    )
    logging.getLogger("library").error("%d", MARKER)
    logging.getLogger("library").log(35, "odd level")
    assert len(lines(stream)) == 3
    assert lines(stream)[0]["level"] == "info"
    assert lines(stream)[0]["level_"] == "y"
    assert MARKER not in stream.getvalue()


def test_a_console_line_cannot_be_forged_or_drive_the_terminal() -> None:
    stream = Terminal()
    configure_logging("info", "console", stream)
    log.info("x", value="a\n10:00:00 info forged \x1b[2J", **{"na me": 1})
    assert len(stream.getvalue().splitlines()) == 1
    assert "\x1b[2J" not in stream.getvalue()


def test_a_stream_that_is_gone_costs_lines_and_nothing_else() -> None:
    class Gone(io.StringIO):
        def write(self, _text: str) -> int:
            raise BrokenPipeError

    configure_logging("info", "json", Gone())
    log.info("x")
    closed = io.StringIO()
    configure_logging("info", "json", closed)
    closed.close()
    log.info("x")


UNCAUGHT = """
import sys, threading, warnings
from clankie.runtime.logs import configure_logging, log_everything_else
configure_logging("info", "json", sys.stderr)
log_everything_else()
content = sys.argv[1]
warnings.warn(content)
thread = threading.Thread(target=lambda: int(content))
thread.start()
thread.join()
class Unraisable:
    def __del__(self):
        int(content)
Unraisable()
int(content)
"""


def test_what_python_would_print_itself_is_logged_without_values() -> None:
    done = subprocess.run(
        [sys.executable, "-c", UNCAUGHT, MARKER], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert MARKER not in done.stderr + done.stdout
    events = [json.loads(line)["event"] for line in done.stderr.splitlines()]
    assert events == ["python_warning", "uncaught_in_thread", "unraisable", "uncaught"]

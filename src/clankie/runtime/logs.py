"""Logging: every line of ours and of any library, through one pipeline, to one stream.

Owns the pipeline: level, time, exceptions, redaction, and the two forms of a line. Must not know what
is logged. Events are short snake_case words with content-free values.

Libraries are heard from `warning` up, whatever our own level is, and in their own words only: some of
them (SQL drivers, Discord and HTTP clients) log what they carry.
"""

import logging
import sys
import threading
import warnings
from collections.abc import Mapping, MutableMapping
from typing import Any, Final, Literal, TextIO

import msgspec
import structlog

from clankie.runtime.exceptions import describe_exception
from clankie.runtime.redaction import redact, redact_value

LogLevel = Literal["debug", "info", "warning", "error"]
LogFormat = Literal["auto", "console", "json"]
LIBRARY_LEVEL: Final = logging.WARNING
# What a stranger's broken request makes the HTTP server say is his doing, and he could say it often.
HTTP_SERVER_LEVEL: Final = logging.ERROR

_COLOURS: Final = {"debug": "2", "info": "32", "warning": "33", "error": "31", "critical": "31;1"}
_debugging = True
"""Until logging is configured, structlog writes everything."""
_TIMESTAMP: Final = structlog.processors.TimeStamper(fmt="iso", utc=True)


def debugging() -> bool:
    """Whether lines at debug are written. Asked where a line that nobody reads would cost what it is about."""
    return _debugging


def configure_logging(level: LogLevel, fmt: LogFormat, stream: TextIO) -> None:
    """Send all logging of this process to the stream, redacted.

    Args:
        level: the least severe of our own lines that is written.
        fmt: `auto` is `console` when the stream is a terminal, else `json`.
        stream: where the lines go.
    """
    global _debugging  # noqa: PLW0603 - logging is one to a process, as structlog's own configuration is
    _debugging = level == "debug"
    as_json = fmt == "json" or (fmt == "auto" and not stream.isatty())
    writer = _Writer(stream, render_json if as_json else _Console(colour=stream.isatty()))
    structlog.configure(
        processors=[structlog.contextvars.merge_contextvars, _finish_ours],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=writer.logger,
        cache_logger_on_first_use=False,  # a logger made at import must follow a later configuration
    )
    root = logging.getLogger()
    root.handlers = [_LibraryHandler(writer)]
    root.setLevel(LIBRARY_LEVEL)
    logging.getLogger("uvicorn.error").setLevel(HTTP_SERVER_LEVEL)


def log_everything_else() -> None:
    """Log what Python would print itself: uncaught and unraisable exceptions, and warnings.

    For a role's own process; its printing shows values that no log may hold.
    """
    log = structlog.get_logger("clankie.process")
    sys.excepthook = lambda kind, error, trace: log.error("uncaught", exc_info=error)
    threading.excepthook = lambda args: log.error("uncaught_in_thread", exc_info=args.exc_value)
    sys.unraisablehook = lambda args: log.error("unraisable", exc_info=args.exc_value)
    warnings.showwarning = lambda message, category, filename, lineno, *_: log.warning(
        "python_warning", category=category.__name__, file=filename, line=lineno
    )


def render_json(event: Mapping[str, Any]) -> str:
    """One line of JSON."""
    return msgspec.json.encode(event).decode()


class _Console:
    """`10:31:05 info    turn_settled  delivery=… ms=12`, for people."""

    def __init__(self, *, colour: bool) -> None:
        self._colour = colour

    def __call__(self, event: MutableMapping[str, Any]) -> str:
        level = event.pop("level")
        head = f"{event.pop('timestamp')[11:19]} {level:<7} {_plain(event.pop('event'))}"
        if self._colour:
            head = f"\x1b[{_COLOURS[level]}m{head}\x1b[0m"
        trace = event.pop("exception", None)
        event.pop("logger", None)
        pairs = "".join(f"  {_plain(name)}={_plain(value)}" for name, value in event.items())
        return head + pairs + (f"\n{_lines(trace)}" if trace else "")


class _Writer:
    """The stream, one whole line at a time. A stream that is gone costs lines, never the role."""

    def __init__(self, stream: TextIO, render: Any) -> None:
        self._stream = stream
        self._render = render
        self._lock = threading.Lock()

    def logger(self, *args: str) -> "_LineLogger":
        return _LineLogger(self, args[0] if args else "clankie")

    def write(self, event: MutableMapping[str, Any]) -> None:
        line = self._render(event) + "\n"
        with self._lock:
            try:
                self._stream.write(line)
                self._stream.flush()
            except (OSError, ValueError):
                return


class _LineLogger:
    """What structlog hands a finished event to."""

    __slots__ = ("_writer", "name")

    def __init__(self, writer: _Writer, name: str) -> None:
        self._writer = writer
        self.name = name

    def msg(self, event: dict[str, Any]) -> None:
        self._writer.write(event)

    debug = info = warning = error = critical = exception = msg


class _LibraryHandler(logging.Handler):
    """Takes the standard library's records into the same pipeline."""

    def __init__(self, writer: _Writer) -> None:
        super().__init__()
        self._writer = writer

    def emit(self, record: logging.LogRecord) -> None:
        event: dict[str, Any] = {"event": _library_words(record), "logger": record.name}
        if record.exc_info:
            event["exc_info"] = record.exc_info
        self._writer.write(_finish(record.levelname.lower(), event))


def _library_words(record: logging.LogRecord) -> str:
    """A library's own words, with numbers; of anything else it filled in, only the class.

    Its first line, since what follows is mostly somebody's repr: asyncio appends the task with its
    exception, and that one's words.
    """
    if not isinstance(record.msg, str):
        return f"[{type(record.msg).__name__}]"
    words, _, _ = record.msg.partition("\n")
    if not isinstance(record.args, tuple):
        return words
    filled = [a if isinstance(a, int | float) else f"[{type(a).__name__}]" for a in record.args]
    try:
        return words % tuple(filled)
    except (TypeError, ValueError):
        return words


def _finish_ours(
    logger: _LineLogger, level: str, event: MutableMapping[str, Any]
) -> tuple[tuple[dict[str, Any]], dict[str, Any]]:
    event["logger"] = logger.name
    return (_finish(level, event),), {}  # structlog's way to say: one positional argument


def _finish(level: str, event: MutableMapping[str, Any]) -> dict[str, Any]:
    error = event.pop("exc_info", None)
    if error is True:
        error = sys.exception()
    elif isinstance(error, tuple):
        error = error[1]
    finished: dict[str, Any] = {
        "timestamp": "",
        "level": level if level in _COLOURS else "error",
        "event": redact(str(event.pop("event", ""))),
    }
    for name, value in event.items():
        finished[name + "_" if name in finished else name] = redact_value(value, name)
    if isinstance(error, BaseException):
        finished["exception"] = describe_exception(error)
    return dict(_TIMESTAMP(None, level, _encodable(finished)))


def _encodable(value: Any) -> Any:
    """Lone surrogates, which no line could be encoded with, spelled out."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, dict):
        return {_encodable(key): _encodable(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_encodable(item) for item in value]
    return value


def _plain(value: object) -> str:
    """On one line, with nothing that a terminal acts on."""
    text = value if isinstance(value, str) else repr(value)
    return text if text.isprintable() and " " not in text else repr(text)


def _lines(trace: str) -> str:
    return "".join(c if c.isprintable() or c == "\n" else repr(c)[1:-1] for c in trace)

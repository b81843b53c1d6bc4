"""Every relative link, anchor and path in the Markdown files leads somewhere.

Checks links and images (`[text](path#anchor)`) and paths in code spans that start with one of the
repo's own folders. Prints a line for each that leads nowhere, and exits 1. Fetches nothing.
"""

import re
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Final
from urllib.parse import unquote

try:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token
except ModuleNotFoundError:
    sys.exit(
        f"Error: {sys.executable} has no markdown_it\n"
        "Next: `make check`, which sets up what it needs and runs this with it."
    )

ROOT: Final = Path(__file__).resolve().parent.parent
FOLDERS: Final = ("bench", "docs", "requirements", "src", "tests", "tools", ".ci")
_REPO_PATH: Final = re.compile(rf"(?:{'|'.join(map(re.escape, FOLDERS))})/[\w./-]+")
_EXTERNAL: Final = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)


def main() -> int:
    """Check all Markdown files; the exit code."""
    files = [path for path in sorted(ROOT.rglob("*.md")) if not _is_hidden(path)]
    problems = [problem for path in files for problem in problems_of(path)]
    for problem in problems:
        print(problem)
    print(f"{len(files)} Markdown files, {len(problems)} dead links or paths")
    return 1 if problems else 0


def problems_of(path: Path) -> Iterator[str]:
    """What leads nowhere in one file, a line each."""
    for line, token in _inline_tokens(path):
        where = f"{path.relative_to(ROOT)}:{line}"
        if token.type in {"link_open", "image"}:
            target = str(token.attrs.get("href" if token.type == "link_open" else "src", ""))
            if not _EXTERNAL.match(target) and (reason := dead_link(path, unquote(target))):
                yield f"{where}: {target}: {reason}"
        elif token.type == "code_inline" and _names_nothing(token.content):
            yield f"{where}: {token.content}: no such file"


def dead_link(source: Path, target: str) -> str | None:
    """Why a relative link leads nowhere, or None."""
    name, _, anchor = target.partition("#")
    path = (source.parent / name).resolve() if name else source
    if not path.is_relative_to(ROOT) or not path.exists():
        return "no such file"
    if anchor and path.suffix == ".md" and anchor not in anchors_of(path):
        return "no such heading"
    return None


def anchors_of(path: Path) -> set[str]:
    """The anchors that GitHub gives a file's headings."""
    anchors: set[str] = set()
    tokens = MarkdownIt().parse(path.read_text())
    for opening, inline in pairwise(tokens):
        if opening.type != "heading_open":
            continue
        text = "".join(token.content for token in inline.children or ())
        slug = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
        count = 1
        unique = slug
        while unique in anchors:
            unique = f"{slug}-{count}"
            count += 1
        anchors.add(unique)
    return anchors


def _names_nothing(code: str) -> bool:
    return _REPO_PATH.fullmatch(code) is not None and not (ROOT / code).exists()


def _inline_tokens(path: Path) -> Iterator[tuple[int, Token]]:
    for block in MarkdownIt().enable("table").parse(path.read_text()):
        line = (block.map or [0])[0] + 1
        for token in block.children or ():
            yield line, token


def _is_hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.relative_to(ROOT).parts)


if __name__ == "__main__":
    sys.exit(main())

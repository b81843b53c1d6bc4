"""The page where a person says who they are and whether an application may know it.

Owns the HTML and what it may load: nothing. Must not know tokens.
"""

import base64
import hashlib
from collections.abc import Iterable, Mapping
from html import escape
from typing import Final
from urllib.parse import urlsplit

from clankie.sim.rest.oauth2.requests import CARRIED, SCOPES, Asked, Untrusted
from clankie.sim.world.entities import User

_STYLE: Final = """
:root { color-scheme: light dark; --line: #8884; --quiet: #6b7280; --accent: #3f6f8f; }
@media (prefers-color-scheme: dark) { :root { --quiet: #9ca3af; --accent: #7fb3d3; } }
body { font: 1rem/1.5 system-ui, sans-serif; margin: 0; padding: 2rem 1rem; }
main { max-width: 26rem; margin: 0 auto; border: 1px solid var(--line); border-radius: .75rem; padding: 1.5rem; }
h1 { font-size: 1.25rem; margin: 0 0 .5rem; overflow-wrap: anywhere; }
p, legend { color: var(--quiet); }
fieldset { border: 0; margin: 1rem 0; padding: 0; }
label { display: flex; gap: .625rem; padding: .5rem .25rem; border-top: 1px solid var(--line); }
label, li { overflow-wrap: anywhere; }
small { color: var(--quiet); margin-left: auto; }
.buttons { display: flex; gap: .75rem; justify-content: flex-end; }
button { font: inherit; padding: .5rem 1rem; border-radius: .5rem; border: 1px solid var(--line); background: none; }
button[value=yes] { background: var(--accent); border-color: var(--accent); color: Canvas; font-weight: 600; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
"""
_STYLE_HASH: Final = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()


def policy(redirect_uri: str = "") -> str:
    """The Content-Security-Policy. A form's redirect counts as its action: the return address must be allowed."""
    parts = urlsplit(redirect_uri)
    back = f" {parts.scheme}://{parts.netloc}" if parts.netloc else ""
    return (
        f"default-src 'none'; style-src 'sha256-{_STYLE_HASH}'; form-action 'self'{back}; "
        "base-uri 'none'; frame-ancestors 'none'"
    )


def consent_page(asked: Asked, query: Mapping[str, str], people: Iterable[User]) -> str:
    """Ask.

    Args:
        query: as it came; it is carried through the form.
        people: one of whom the reader is.
    """
    carried = "".join(
        f'<input type="hidden" name="{name}" value="{escape(query[name])}">'
        for name in CARRIED
        if name in query
    )
    known = "".join(f"<li>{escape(SCOPES[scope])}</li>" for scope in asked.scopes)
    choices = "".join(
        f'<label><input type="radio" name="user_id" value="{person.id}" required>'
        f"{escape(person.global_name or person.username)}<small>{escape(person.username)}</small></label>"
        for person in people
    )
    name = escape(asked.application.name)
    return _page(
        f"{name} asks who you are",
        f"<p>It would know:</p><ul>{known}</ul>"
        f'<form method="post" action="/oauth2/authorize">{carried}'
        f"<fieldset><legend>You are</legend>{choices}</fieldset>"
        '<div class="buttons"><button name="decision" value="no" formnovalidate>Cancel</button>'
        '<button name="decision" value="yes">Authorize</button></div></form>',
    )


def refusal_page(error: Untrusted) -> str:
    """Tell the person, and whoever wrote the application, what is wrong."""
    return _page(
        "This request cannot be answered",
        f"<p>{escape(str(error))}.</p><p>Next: {escape(error.next_step)}</p>",
    )


def _page(title: str, body: str) -> str:
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>{_STYLE}</style><main><h1>{title}</h1>{body}</main></html>"
    )

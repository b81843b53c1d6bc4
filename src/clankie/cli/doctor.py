"""`clankie doctor`: what is wrong with the roles that this home has, a line each, with what to do.

Owns which roles are examined, and how the report is shown. Must not know what is examined.
"""

import os
from typing import Annotated

import typer

app = typer.Typer(
    rich_markup_mode=None,
    add_completion=False,
    help="Examine keys, stores, clock, permissions and ports; each line says what to do.",
)


@app.command()
def doctor(
    *,
    as_json: Annotated[
        bool, typer.Option("--json", help="One JSON array of subject, level, text, next_step.")
    ] = False,
) -> None:
    """Examine keys, stores, clock, permissions and ports; each line says what to do.

    Each role that this home has is examined; a home with none, as one that a body will start in. Nothing is changed,
    and every role may be running meanwhile. Exits 1 when a line says fail.
    """
    # Imported here: `clankie --help` must not wait for a server's worth of modules.
    import msgspec  # noqa: PLC0415

    from clankie.body.doctor.examination import examine, examine_machine  # noqa: PLC0415
    from clankie.body.doctor.findings import Level, ok  # noqa: PLC0415
    from clankie.body.doctor.presence import has_body  # noqa: PLC0415
    from clankie.cli.doctor_roles import (  # noqa: PLC0415
        examine_edge,
        examine_fleet,
        examine_gateway,
    )
    from clankie.runtime.broker import FileBroker  # noqa: PLC0415
    from clankie.runtime.clock import SystemClock  # noqa: PLC0415
    from clankie.runtime.config import load_config  # noqa: PLC0415
    from clankie.runtime.redaction import redact  # noqa: PLC0415

    config = load_config(os.environ).config
    broker = FileBroker(config.broker_path)
    clock = SystemClock()
    others = [
        *examine_fleet(config, broker),
        *examine_gateway(config),
        *examine_edge(config, broker),
    ]
    if others and not has_body(config, broker):
        none = ok("body", "there is none in this home: no bootstrap file, no store, no key of one")
        findings = [*examine_machine(config, broker, clock=clock), none, *others]
    else:
        findings = [*examine(config, broker, clock=clock), *others]
    if as_json:
        typer.echo(redact(msgspec.json.format(msgspec.json.encode(findings)).decode()))
    else:
        for finding in findings:
            typer.echo(redact(f"{finding.level:<5} {finding.subject:<12} {finding.text}"))
            if finding.next_step:
                typer.echo(redact(f"{'':<18} Next: {finding.next_step}"))
    if any(finding.level is Level.FAIL for finding in findings):
        raise typer.Exit(1)

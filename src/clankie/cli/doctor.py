"""`clankie doctor`: what is wrong with this machine's body, a line each, with what to do.

Owns how the report is shown. Must not know what is examined.
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

    A fleet and a gateway are examined where this home has one. Nothing is changed, and every role may be running
    meanwhile. Exits 1 when a line says fail.
    """
    # Imported here: `clankie --help` must not wait for a server's worth of modules.
    import msgspec  # noqa: PLC0415

    from clankie.body.doctor.examination import examine  # noqa: PLC0415
    from clankie.body.doctor.findings import Level  # noqa: PLC0415
    from clankie.cli.doctor_roles import examine_fleet, examine_gateway  # noqa: PLC0415
    from clankie.runtime.broker import FileBroker  # noqa: PLC0415
    from clankie.runtime.clock import SystemClock  # noqa: PLC0415
    from clankie.runtime.config import load_config  # noqa: PLC0415
    from clankie.runtime.redaction import redact  # noqa: PLC0415

    config = load_config(os.environ).config
    broker = FileBroker(config.broker_path)
    findings = [
        *examine(config, broker, clock=SystemClock()),
        *examine_fleet(config, broker),
        *examine_gateway(config),
    ]
    if as_json:
        typer.echo(redact(msgspec.json.format(msgspec.json.encode(findings)).decode()))
    else:
        for finding in findings:
            typer.echo(redact(f"{finding.level:<5} {finding.subject:<12} {finding.text}"))
            if finding.next_step:
                typer.echo(redact(f"{'':<18} Next: {finding.next_step}"))
    if any(finding.level is Level.FAIL for finding in findings):
        raise typer.Exit(1)

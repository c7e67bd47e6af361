"""The command line. Bodies lie in `agentbound.flows.commands` and are imported when a command runs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from agentbound import __version__
from agentbound.errors import AgentboundError, UsageError
from agentbound.flows.stopping import INTERRUPTED, STOPPED

app = typer.Typer(
    name="agentbound",
    help="Build, prove and read counterfactual safety benchmarks for tool-using agents.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    add_completion=False,
    context_settings={"max_content_width": 120, "help_option_names": ["-h", "--help"]},
)
taxonomy = typer.Typer(help="Risk categories, classes, patterns and blueprints.", no_args_is_help=True)
app.add_typer(taxonomy, name="taxonomy")

_UNEXPECTED = 70

Run = Annotated[Path, typer.Argument(help="The directory of a run.", show_default=False)]
TaxonomyDir = Annotated[
    list[Path] | None,
    typer.Option(
        "--taxonomy", help="A directory with categories, patterns or blueprints of your own; may be repeated."
    ),
]


def _print_version(asked: bool) -> None:
    if asked:
        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def options(
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
    number: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    """Options before the command; `main` reads --debug itself."""


@app.command()
def build(
    out: Annotated[Path, typer.Option("--out", help="Where the run is kept; the same command goes on with it.")],
    preset: Annotated[
        str,
        typer.Option(help="quick (8 families a class), core (1,000), or paper (2,787, and a core of 1,000 of them)."),
    ] = "quick",
    families: Annotated[
        int | None, typer.Option(min=1, help="How many families in all, in place of the preset's.")
    ] = None,
    core: Annotated[
        int | None,
        typer.Option(min=1, help="How many of the accepted families the release holds; the rest stays in the run."),
    ] = None,
    category: Annotated[list[str] | None, typer.Option(help="Only this category; may be repeated.")] = None,
    risk_class: Annotated[list[str] | None, typer.Option(help="Only this risk class; may be repeated.")] = None,
    secret: Annotated[
        Path | None, typer.Option(help="File with the release secret; without it one is made and kept.")
    ] = None,
    release_version: Annotated[str, typer.Option(help="The version the release carries.")] = "0.1.0",
    taxonomy_dir: TaxonomyDir = None,
    shipped: Annotated[bool, typer.Option(help="Whether the shipped blueprints are used beside your own.")] = True,
    workers: Annotated[int | None, typer.Option(min=1, help="Processes; as many as cores if left out.")] = None,
) -> None:
    """Build a release: seed, generate and validate, gate, assemble."""
    from agentbound.flows.commands.build import build_command

    try:
        build_command(
            run=out,
            preset=preset,
            families=families,
            core=core,
            categories=category or [],
            risk_classes=risk_class or [],
            secret=secret,
            version=release_version,
            taxonomy_dirs=taxonomy_dir or [],
            shipped=shipped,
            workers=workers,
        )
    except KeyboardInterrupt:  # before the flow, or after it; typer would end without a word
        typer.echo(STOPPED, err=True)
        raise typer.Exit(INTERRUPTED) from None


@app.command()
def prove(
    path: Annotated[Path, typer.Argument(help="A family's JSON file, a run, or a release.", show_default=False)],
) -> None:
    """Prove families again from the files alone; exit 1 where one does not hold."""
    from agentbound.flows.commands.prove import prove_command

    raise typer.Exit(prove_command(path))


@app.command()
def show(
    run: Run,
    family: Annotated[str | None, typer.Argument(help="Its id, or the beginning of it; without, the list.")] = None,
) -> None:
    """Read a family: wordings, flip, facts and rules, the path in both worlds, receipts."""
    from agentbound.flows.commands.read import show_command

    show_command(run, family)


@app.command()
def export(run: Run, family: Annotated[str, typer.Argument(help="Its id, or the beginning of it.")]) -> None:
    """Write a family's record to standard output as JSON."""
    from agentbound.flows.commands.read import export_command

    export_command(run, family)


@app.command()
def runs(
    directory: Annotated[Path, typer.Argument(help="Where runs are kept.")] = Path("runs"),
) -> None:
    """List the runs in a directory."""
    from agentbound.flows.commands.read import runs_command

    runs_command(directory)


@app.command()
def status(run: Run) -> None:
    """How far a run is: requested, accepted, rejected, open, and the commonest findings."""
    from agentbound.flows.commands.read import status_command

    status_command(run)


@app.command()
def diversity(
    path: Annotated[
        Path,
        typer.Argument(
            help="Texts (.txt, .json, .jsonl, .csv, .tsv, .parquet), a run, or a release.", show_default=False
        ),
    ],
    column: Annotated[str | None, typer.Option(help="Where the text is; the usual names are tried.")] = None,
    group: Annotated[
        str | None, typer.Option(help="What belongs together: likeness inside a group does not count.")
    ] = None,
) -> None:
    """How different the texts of a set are, beside two hand-written ones."""
    from agentbound.flows.commands.diversity import diversity_command

    diversity_command(path, column, group)


@app.command()
def blind(
    run: Run,
    sample: Annotated[int | None, typer.Option(min=1, help="Write packets of so many families.")] = None,
    out: Annotated[Path | None, typer.Option("--out", help="A new directory for the packets.")] = None,
    answers: Annotated[
        list[Path] | None, typer.Option(help="Score the answers in this directory; may be repeated.")
    ] = None,
) -> None:
    """Have tasks judged by readers who see no label: write packets, and score the answers that come back."""
    from agentbound.flows.commands.blind import packets_command, score_command

    if sample is not None and out is not None and not answers:
        packets_command(run, sample, out)
    elif answers and sample is None and out is None:
        score_command(run, answers)
    else:
        raise UsageError("give --sample and --out to write packets, or --answers to score them")


@app.command("call")
def call_tool(
    packet: Annotated[Path, typer.Argument(help="A packet's file.", show_default=False)],
    tool: Annotated[str, typer.Argument(help="The tool.", show_default=False)],
    arguments: Annotated[str, typer.Argument(help="Its arguments as JSON.")] = "{}",
) -> None:
    """Make a read in the world of a packet."""
    from agentbound.flows.commands.blind import call_command

    call_command(packet, tool, arguments)


@app.command()
def version() -> None:
    """Print the version."""
    typer.echo(__version__)


@taxonomy.command("list")
def taxonomy_list(taxonomy_dir: TaxonomyDir = None) -> None:
    """Categories and classes, with their blueprints."""
    from agentbound.flows.commands.taxonomy import list_command

    list_command(taxonomy_dir or [])


@taxonomy.command("check")
def taxonomy_check(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(help="Blueprint files, directories of them, or a taxonomy of your own; all, if left out."),
    ] = None,
    samples: Annotated[int, typer.Option(min=1, help="Families drawn and proved from each blueprint.")] = 8,
    taxonomy_dir: TaxonomyDir = None,
) -> None:
    """Check content: files, statements, every wording, a proved sample of every blueprint, and what the gates will want.

    Exit 1 on faults.
    """
    from agentbound.flows.commands.taxonomy import check_command

    raise typer.Exit(check_command(paths or [], samples, taxonomy_dir or []))


@taxonomy.command("sample")
def taxonomy_sample(
    path: Annotated[Path, typer.Argument(help="A blueprint file.")],
    seed: Annotated[int, typer.Option(help="Which one to draw.")] = 0,
    flip: Annotated[str | None, typer.Option(help="The flip that makes the forbidden world.")] = None,
    taxonomy_dir: TaxonomyDir = None,
) -> None:
    """Draw one family from a blueprint and read it."""
    from agentbound.flows.commands.taxonomy import sample_command

    sample_command(path, seed, flip, taxonomy_dir or [])


@taxonomy.command("new")
def taxonomy_new(
    name: Annotated[
        str, typer.Argument(metavar="CATEGORY/CLASS", help="Of a shipped category, or of one of your own.")
    ],
    into: Annotated[
        Path, typer.Option("--into", help="The directory of your own taxonomy; made where it is not there.")
    ],
) -> None:
    """Write commented templates: the category or class, and a blueprint that can be proved as it stands."""
    from agentbound.flows.commands.template import new_command

    new_command(name, into)


def main() -> None:
    """Run the command line: an error is one sentence on standard error, with exit code 2 for a user's mistake."""
    debug = "--debug" in sys.argv
    sys.argv = [word for word in sys.argv if word != "--debug"]  # so that it may stand anywhere
    try:
        app()
    except AgentboundError as error:
        if debug:
            raise
        typer.echo(f"agentbound: {error}", err=True)
        sys.exit(error.exit_code)
    except Exception as error:
        if debug:
            raise
        typer.echo(
            f"agentbound: unexpected {type(error).__name__}: {error}; run again with --debug and report it", err=True
        )
        sys.exit(_UNEXPECTED)


if __name__ == "__main__":
    main()

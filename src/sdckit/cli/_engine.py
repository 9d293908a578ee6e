"""Where the records of a command are: in memory, on DuckDB or on Spark."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from sdckit.choose.plan import Plan
    from sdckit.choose.scenario import Scenario
    from sdckit.data.microdata import Microdata

Folder = tuple[Path, str]
MeasureOptions = Mapping[str, Mapping[str, Any]]  # by the name of the measure
SHARE = 3  # a file takes several times its size while it is worked on


class EngineName(StrEnum):
    """The engines."""

    POLARS = "polars"
    DUCKDB = "duckdb"
    SPARK = "spark"


Engine = Annotated[
    EngineName | None,
    typer.Option(
        help="Where the records are: polars, in memory; duckdb, on disk; spark, on a cluster. "
        "The plan's by default."
    ),
]


def with_engine(plan: "Plan", engine: EngineName | None) -> "Plan":
    """The plan with the engine of the command line."""
    return plan if engine is None else replace(plan, data={**plan.data, "engine": engine.value})


def read_data(
    plan: "Plan",
    scenarios: Iterable["Scenario"] = (),
    into: Folder | None = None,
    measures: MeasureOptions | None = None,
) -> "Microdata":
    """The data of a plan, when all else has been checked: Spark takes half a minute to start, reading more.

    scenarios: those that will be carried out. into: the folder that will be written, and the column that
    gives names to the folders in it. measures: the options of measures that will be taken.
    """
    from sdckit.io.folder import writable_folder

    engine = str(plan.data.get("engine", EngineName.POLARS))
    header = plan.header()
    if header is not None:
        for scenario in scenarios:
            scenario.check(header, engine)
        for intruder in plan.intruders:
            intruder.known(header)
        check_columns(header, measures or {})
        if into is not None:
            header.require(into[1])
    get_ready(engine, [plan.folder / str(plan.data["file"])] if "file" in plan.data else [])
    data = plan.read()
    if into is not None:
        writable_folder(data, *into)
    return data


def check_columns(header: "Microdata", measures: MeasureOptions) -> None:
    """Refuse columns that options of measures name and the file does not have."""
    from sdckit.errors import SdcError
    from sdckit.methods.registry import find

    for name, given in measures.items():
        spec = find(name)
        try:
            spec.resolve(header, spec.validate(given))
        except SdcError as error:
            raise error.after(f"Options of {name}") from None


def get_ready(engine: str, files: Iterable[Path]) -> None:
    """Start Spark where it is asked for; say where files may be too large for memory."""
    from sdckit._support.memory import free_memory
    from sdckit.cli._progress import say
    from sdckit.engine.spark_session import start_session
    from sdckit.io.dataset import files_of, is_dataset
    from sdckit.io.formats import readable

    if engine == EngineName.SPARK:
        for file in files:
            files_of(file) if is_dataset(file) else readable(file)  # an error where there is none
        start_session()
    free = free_memory()
    if engine != EngineName.POLARS or free is None:
        return
    for file in files:
        size = _size(file)
        if size > free / SHARE:
            say(
                f"{file} has {_gigabytes(size)}, more than a third of the free memory ({_gigabytes(free)}): "
                "it may not fit. --engine duckdb leaves the records on disk."
            )


def _size(path: Path) -> int:
    """The bytes of a file, or of all files of a folder or pattern."""
    from sdckit.errors import FileError
    from sdckit.io.dataset import files_of, is_dataset

    try:
        files = files_of(path) if is_dataset(path) else [path] if path.is_file() else []
    except FileError:  # reading says what is wrong
        return 0
    return sum(file.stat().st_size for file in files)


def _gigabytes(size: int) -> str:
    return f"{size / 1e9:.1f} GB"

"""The Spark session: the one that is there, of a cluster, of this machine or of Spark Connect."""

import os
import re
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from sdckit.errors import EngineError, preview


def active_session() -> Any:
    """The session of the user's program."""
    from pyspark.sql import SparkSession

    session = SparkSession.getActiveSession()
    if session is None:
        raise EngineError("There is no Spark session.", hint="Start one: SparkSession.builder.getOrCreate().")
    return session


def start_session() -> Any:
    """The session that is there, or a new one: of the cluster that spark-submit names, or here."""
    require_package("spark")
    from pyspark.sql import SparkSession

    session = SparkSession.getActiveSession()
    if session is not None:
        return session
    if not os.environ.get("SPARK_REMOTE") and not has_java():
        raise EngineError(
            "Spark needs Java, and there is none.",
            hint="Install Java 17, or set JAVA_HOME to the folder where it is; or use engine duckdb, "
            "which needs no Java.",
        )
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # workers need the packages of this program
    builder = SparkSession.builder.appName("sdckit").config("spark.ui.showConsoleProgress", "false")
    try:
        return builder.getOrCreate()
    except Exception as error:  # of Java, of the gateway to it, or of the network
        reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
        reason = _java_said() or reason if EXITED in reason else reason
        raise EngineError("Spark cannot be started.", hint=reason) from error


def require_package(engine: str) -> None:
    """Refuse an engine that is not installed, or without pyarrow, through which its records pass."""
    for package in ("pyspark" if engine == "spark" else engine, "pyarrow"):
        if find_spec(package) is None:
            raise EngineError(f"{package} is not installed.", hint=f"pip install 'sdckit[{engine}]'")


def _java_said() -> str:
    """What Java says where it ends as soon as Spark starts it: started again for its words alone."""
    launch_gateway = import_module("pyspark.java_gateway").launch_gateway
    with TemporaryFile() as said:
        with suppress(Exception):  # it ends again
            launch_gateway(popen_kwargs={"stderr": said}).shutdown()
        said.seek(0)
        words = said.read().decode(errors="replace")
    return f"Java says: {preview(words, str)}" if words.strip() else ""


EXITED = "JAVA_GATEWAY_EXITED"  # Spark's name for a Java that ended before it answered
LACKING = "ModuleNotFoundError: No module named "
NO_PROGRAM = re.compile(r'Cannot run program ("[^"]+")')


@contextmanager
def spark_errors() -> Iterator[None]:
    """What Spark says of work that failed, in one line: files that are gone, workers that are lost.

    Ctrl-C cancels all jobs, and the error of the cancelled one hides it.
    """
    try:
        yield
    except _errors() as error:
        if _was_interrupted(error):
            raise KeyboardInterrupt from None
        raise EngineError("Spark could not finish the work.", hint=_reason(str(error), error)) from error


def _was_interrupted(error: BaseException | None) -> bool:
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__context__
    return error is not None


def _reason(text: str, error: BaseException) -> str:
    """The innermost cause that Spark names; of packages that workers lack, what to do.

    >>> _reason("Job aborted.\\nModuleNotFoundError: No module named 'pandas'", ValueError())
    "Its workers lack the package 'pandas': start the session with PYSPARK_PYTHON set to one with sdckit."
    """
    raw = text.strip().splitlines()
    lines = [line.strip() for line in raw] or [type(error).__name__]
    lacking = [line.removeprefix(LACKING) for line in lines if line.startswith(LACKING)]
    if lacking:
        return (
            f"Its workers lack the package {lacking[-1]}: start the session with PYSPARK_PYTHON set to one "
            "with sdckit."
        )
    if program := NO_PROGRAM.search(text):
        return (
            f"Its workers cannot run the program {program[1]}: start the session with PYSPARK_PYTHON set to "
            "a Python with sdckit."
        )
    if raised := _raised_by_worker(raw):
        return raised
    return [lines[0], *(line for line in lines if line.startswith("Caused by:"))][-1]


def _raised_by_worker(lines: Sequence[str]) -> str:
    """What a worker's Python said at the end of its traceback; empty where no worker failed.

    >>> _raised_by_worker(["Thrown: Traceback (most recent call last):", '  File "a"', "OSError: b"])
    'OSError: b'
    """
    starts = [i for i, line in enumerate(lines) if "Traceback (most recent call last)" in line]
    after = lines[starts[-1] + 1 :] if starts else []
    return next((line for line in after if line and not line.startswith(" ")), "")


def _errors() -> tuple[type[Exception], ...]:
    """Spark's errors, and those it hands on as Java raised them; Spark Connect alone has no Java."""
    from pyspark.errors import PySparkException

    if find_spec("py4j") is None:
        return (PySparkException,)
    from py4j.protocol import Py4JJavaError

    return PySparkException, Py4JJavaError


def has_java() -> bool:
    """Whether there is a Java that Spark would find."""
    home = os.environ.get("JAVA_HOME")
    if home:
        return any((Path(home) / "bin" / name).is_file() for name in ("java", "java.exe"))
    return shutil.which("java") is not None

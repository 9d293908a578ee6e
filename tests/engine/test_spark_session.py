import shutil
import subprocess
import sys
from importlib.util import find_spec

import pytest

from sdckit.engine import spark_session
from sdckit.errors import EngineError


def test_a_program_of_the_workers_that_is_not_there_is_named():
    said = (
        'Job aborted.\njava.io.IOException: Cannot run program "/opt/python9": error=2, No such file\n'
        "Caused by: java.io.IOException: error=2, No such file or directory"
    )
    reason = spark_session._reason(said, ValueError())
    assert reason.startswith('Its workers cannot run the program "/opt/python9"')
    assert "PYSPARK_PYTHON" in reason


@pytest.mark.parametrize("engine", ["duckdb", "spark"])
def test_without_pyarrow_the_extra_is_named(monkeypatch, engine):
    monkeypatch.setattr(spark_session, "find_spec", lambda name: None if name == "pyarrow" else name)
    with pytest.raises(EngineError, match=rf"pyarrow is not installed. pip install 'sdckit\[{engine}\]'"):
        spark_session.require_package(engine)


@pytest.mark.skipif(not find_spec("pyspark") or not shutil.which("java"), reason="needs Spark and Java")
def test_what_java_says_of_an_option_it_does_not_know(monkeypatch):
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", "-Xbogus")
    code = "from sdckit.engine.spark_session import start_session; start_session()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    last = done.stderr.strip().splitlines()[-1]
    assert "Spark cannot be started. Java says: " in last
    assert "Unrecognized option: -Xbogus" in last


def test_ctrl_c_is_no_error_of_spark():
    """Spark cancels its jobs then, and the error of the job comes instead of the interruption."""
    errors = pytest.importorskip("pyspark.errors", reason="pyspark is not installed")

    @spark_session.spark_errors()
    def work():
        try:
            raise KeyboardInterrupt
        finally:
            raise errors.PySparkException("Job 34 cancelled")

    with pytest.raises(KeyboardInterrupt):
        work()

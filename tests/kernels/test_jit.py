"""The cache on disk: never the machine code of another version, or of a kernel's old helper."""

import os
import subprocess
import sys
import textwrap

import pytest

HELPER = "from sdckit.kernels._jit import jit\n\n@jit\ndef helper(x):\n    return x + {}\n"
CALLER = """
from helper_of_test import helper
from sdckit.kernels._jit import jit

@jit
def caller(x):
    return 10 * helper(x)

print(caller(1))
"""


def run(folder, version="1"):
    """What the caller prints in a process of its own with a cache given by the user."""
    start = f"import sdckit._version; sdckit._version.__version__ = {version!r}; import caller_of_test"
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder / "cache"), "NUMBA_DISABLE_JIT": "0"}
    environment["PYTHONPATH"] = os.pathsep.join([str(folder), *sys.path])
    done = subprocess.run([sys.executable, "-c", start], env=environment, capture_output=True, text=True)
    assert not done.returncode, done.stderr
    return int(done.stdout), {path.name for path in (folder / "cache").rglob("*.nbi")}


@pytest.mark.compiled
def test_a_changed_helper_or_version_is_compiled_anew(tmp_path):
    (tmp_path / "caller_of_test.py").write_text(textwrap.dedent(CALLER))
    (tmp_path / "helper_of_test.py").write_text(HELPER.format(1))
    first, files = run(tmp_path)
    assert first == 20
    assert len(files) == 2, "in the folder the user named"
    assert run(tmp_path) == (20, files)
    (tmp_path / "helper_of_test.py").write_text(HELPER.format(2))
    second, more = run(tmp_path)
    assert second == 30, "numba alone would run the old helper"
    assert run(tmp_path, "2")[1] > more

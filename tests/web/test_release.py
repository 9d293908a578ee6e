"""The files of a release: those for others tell no seed."""

from dataclasses import replace
from zipfile import ZipFile

import numpy as np
import polars as pl

import sdckit as sdc
from sdckit._support.progress import Progress
from sdckit.web.document import Document
from sdckit.web.release import INTERNAL, PUBLIC, release

SEED, OWN = 918273645, 564738291
PLAN = f"""
data: {{file: people.csv, keys: [area, sex], sensitive: [answer]}}
scenarios:
  A: [shuffle_order, {{suppress: {{k: 3, seed: {OWN}}}}}]
assess: {{max_risk: 0.01}}
seed: {SEED}
"""


def test_the_archive_for_others_tells_no_seed(tmp_path):
    rng = np.random.default_rng(1)
    columns = {"area": ["north", "south"], "sex": ["f", "m"], "answer": ["yes", "no", "perhaps"]}
    people = pl.DataFrame({name: rng.choice(values, 1200) for name, values in columns.items()})
    people.write_csv(tmp_path / "people.csv")
    plan = sdc.Plan.parse(PLAN, tmp_path)
    data = plan.read()
    protected = plan.find("A").protect(data, seed=plan.seed)
    done = replace(sdc.assess(data, protected, max_risk=0.01), scenario="A", seed=plan.seed)
    assert done.verdict.releasable, done.verdict
    folder = tmp_path / "release"
    folder.mkdir()
    wanted = {"data": "protected.csv", "reports": ["internal", "public"], "how": {"codebook": True}}
    release(Document.of_plan(plan), protected, done, folder, wanted, Progress())
    told = {name: texts(folder / name) for name in (PUBLIC, INTERNAL)}
    assert {"protected.csv", "report_public.html"} <= set(told[PUBLIC])
    for name, text in told[PUBLIC].items():
        assert not [n for n in (SEED, OWN, data.origin) if str(n).encode() in text], name
    assert str(SEED).encode() in told[INTERNAL]["plan.yaml"]


def texts(path):
    with ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}

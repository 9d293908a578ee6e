"""What `reidentification_risk` reports beside what an intruder achieves who learned the channel elsewhere.

python -m studies.informed_intruder [--seeds 4] prints the page and writes docs/studies/informed-intruder.md.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean

import numpy as np
import polars as pl

import sdckit as sdc
from sdckit.methods.registry import specs
from sdckit.methods.spec import Kind
from sdckit.models import linked_files
from sdckit.models.key_intruder import attack_keys
from sdckit.models.number_channel import fit_number_channel
from sdckit.models.number_intruder import attack_numbers, known_values
from sdckit.risk._known_values import CountedPairs, KnownKeys, LinkedFiles, numbers_of

PAGE = Path(__file__).parents[1] / "docs" / "studies" / "informed-intruder.md"
KEYS = ["region", "urban", "sex", "age", "education"]
NUMBERS = ["income", "expenditure"]
AGE: dict = {"recode": {"variable": "age", "width": 10}}

SCENARIOS: dict[str, list] = {
    "nothing": [],
    "recode": [AGE],
    "group": [{"group": {"variables": ["education"], "map": {"low": [1, 2, 3]}}}],
    "top_code": [{"top_code": {"variables": ["age"], "value": 60}}],
    "bottom_code": [{"bottom_code": {"variables": ["age"], "value": 25}}],
    "round_values": [{"round_values": {"variables": ["age"], "base": 5}}],
    "suppress": [{"suppress": {"k": 3}}],
    "suppress, wildcard rule": [{"suppress": {"k": 3, "missing": "wildcard"}}],
    "suppress_risky": [{"suppress_risky": {"threshold": 0.0003}}],
    "pram 0.9": [{"pram": {"variables": KEYS, "stay": 0.9}}],
    "pram 0.7": [{"pram": {"variables": KEYS, "stay": 0.7}}],
    "swap_records": [{"swap_records": {"geography": ["region", "urban"], "share": 0.2}}],
    "recode, pram, suppress": [AGE, {"pram": {"variables": KEYS, "stay": 0.8}}, {"suppress": {"k": 3}}],
    "sample_records": [{"sample_records": {"share": 0.5}}],
    "drop": [{"drop": {"variables": ["education"]}}],
    "new_ids": [{"new_ids": {}}],
    "shuffle_order": [{"shuffle_order": {}}],
    "add_noise": [AGE, {"add_noise": {"variables": NUMBERS}}],
    "microaggregate": [AGE, {"microaggregate": {"variables": NUMBERS, "k": 5}}],
    "rank_swap": [AGE, {"rank_swap": {"variables": NUMBERS}}],
    "shuffle": [AGE, {"shuffle": {"variables": NUMBERS}}],
}
WITH_NUMBERS = ("add_noise", "microaggregate", "rank_swap", "shuffle")

INTRODUCTION = """\
# What the intruder finds, reported and achieved

`reidentification_risk` learns from the true pairs how the file was changed, and counts whom the informed
intruder finds. Is that figure flattered because the holder knows the pairs? Here an *independent* intruder
learns the channel elsewhere: from {persons:,} other people of the same population, protected in the same way
with other random draws, and then attacks this file. Agreement means that the report is neither flattered nor
blind.

`sdckit.demo.survey`, {persons:,} persons, keys {keys}; for the last rows also {numbers}, known to
within 10 %. Means over {seeds} seeds, none of which was used while building. *Reported* and *achieved* are
persons found by the best guess.

| protection | reported | achieved | difference |
| --- | ---: | ---: | ---: |
"""


def halves(seed: int, n: int) -> list[sdc.Microdata]:
    """Two files of different people."""
    whole = sdc.demo.survey(n=2 * n, seed=seed)
    frame = whole.frame.sample(fraction=1, shuffle=True, seed=seed)
    roles = {"keys": KEYS, "numeric": NUMBERS, "weight": "weight", "id": "person_id"}
    parts = (frame[: frame.height // 2], frame[frame.height // 2 :])
    return [sdc.read(part.select(["person_id", "weight", *KEYS, *NUMBERS]), **roles) for part in parts]


def linked(original: sdc.Microdata, protected: sdc.Microdata) -> LinkedFiles:
    files = LinkedFiles.of(original, protected)
    assert files is not None
    return files


def one_file(files: Sequence[LinkedFiles]) -> LinkedFiles:
    """Both files below each other, so that their codes are common."""

    def stacked(which: str) -> sdc.Microdata:
        parts = [getattr(f, which) for f in files]
        frame = pl.concat(
            [p.frame.with_columns(pl.col(KEYS_IN(p)).cast(pl.String)) for p in parts], how="vertical_relaxed"
        )
        return parts[0].with_frame(frame)

    first, second = files
    own = np.concatenate([first.own, np.where(second.own < 0, -1, second.own + first.protected.height)])
    return LinkedFiles(stacked("original"), stacked("protected"), own)


def KEYS_IN(data: sdc.Microdata) -> list[str]:  # noqa: N802
    return [k for k in KEYS if k in data.columns]


def part_of(keys: KnownKeys, people: slice, rows: slice) -> KnownKeys:
    return KnownKeys(keys.names, keys.true[people], keys.released[rows], keys.sizes, keys.images)


def found(steps: list, seed: int, n: int, *, numbers: bool) -> tuple[float, float]:
    """Persons found with the file's own channel, and with one learned from other people."""
    data = halves(seed, n)
    scenario = sdc.Scenario("s", steps)
    files = [linked(d, scenario.protect(d, seed=100 * seed + i)) for i, d in enumerate(data)]
    both = KnownKeys.of(one_file(files), KEYS)
    n_people, n_rows = files[0].original.height, files[0].protected.height
    own_keys = part_of(both, slice(0, n_people), slice(0, n_rows))
    other_keys = part_of(both, slice(n_people, None), slice(n_rows, None))
    mine, others = CountedPairs.of(files[0], own_keys), CountedPairs.of(files[1], other_keys)
    if not numbers:
        return tuple(attack_keys(mine.pairs, c).expected_links for c in (mine.channels, others.channels))
    return tuple(
        _with_numbers(files, own_keys, counted, channels)
        for counted, channels in ((mine, None), (others, files[1]))
    )


def _with_numbers(files, keys, counted, elsewhere) -> float:
    wanted = dict.fromkeys(NUMBERS, 0.1)
    _, x, y, errors = numbers_of(files[0], wanted)
    channels = None
    if elsewhere is not None:
        _, a, b, _ = numbers_of(elsewhere, wanted)
        known = known_values(a, errors, elsewhere.identity)
        channels = [
            fit_number_channel(known[:, v], b[elsewhere.own, v], exact=False) for v in range(len(wanted))
        ]
    sizes = np.array(keys.sizes)
    attack = attack_numbers(
        x, y, files[0].own, errors=errors, identity=files[0].identity, channels=channels,
        keys=linked_files.KnownKeys(
            np.where(keys.true < 0, sizes, keys.true).astype(np.int32),
            np.where(keys.released < 0, sizes, keys.released).astype(np.int32),
            tuple(c.matrix() for c in counted.channels),
        ),
    )  # fmt: skip
    return attack.value * files[0].original.height


def page(seeds: int, n: int) -> str:
    covered = {name for steps in SCENARIOS.values() for step in steps for name in step}
    missing = {s.name for s in specs(Kind.PROTECTION)} - covered - {"synthesize"}
    assert not missing, f"protections without a row: {missing}"
    rows = []
    for name, steps in SCENARIOS.items():
        numbers = name in WITH_NUMBERS
        pairs = [found(steps, seed, n, numbers=numbers) for seed in range(901, 901 + seeds)]
        reported, achieved = (fmean(p[i] for p in pairs) for i in (0, 1))
        rows.append(
            f"| {name} | {reported:,.1f} | {achieved:,.1f} | {100 * (reported / achieved - 1):+.1f} % |"
        )
        print(rows[-1], flush=True)
    head = INTRODUCTION.format(persons=n, keys=", ".join(KEYS), numbers=" and ".join(NUMBERS), seeds=seeds)
    return head + "\n".join(rows) + "\n\nPage written by `studies/informed_intruder.py`.\n"


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--persons", type=int, default=1500)
    given = parser.parse_args()
    PAGE.write_text(page(given.seeds, given.persons))

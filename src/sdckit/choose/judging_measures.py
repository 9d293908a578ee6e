"""Which measures the questions before a release read: others need not be taken for a verdict."""

from collections.abc import Collection

from sdckit.choose.release_case import drawn_anew
from sdckit.data.effects import merged
from sdckit.data.microdata import Microdata
from sdckit.methods.registry import specs
from sdckit.methods.spec import Kind


def judging_measures(original: Microdata, protected: Microdata, asked: Collection[str] = ()) -> list[str]:
    """The names of the measures that the verdict on a protected file rests on; asked: these in any case.

    Those about synthetic files are read only where records, or all that an intruder may know, were drawn
    anew: `closest_record` of a file with the original's people says nothing that `reidentification_risk` does
    not, and takes longer than all others. Who gives options of a measure asks for it: whether they weaken it
    is a criterion, too.

    >>> import polars as pl, sdckit as sdc
    >>> data = sdc.read(pl.DataFrame({"sex": ["f", "m"] * 20}), keys="sex")
    >>> judging_measures(data, data)
    ['reidentification_risk', 'attribute_inference', 'revealing_columns']
    """
    new = merged(entry.effects for entry in protected.steps_since(original)).new_records
    synthetic = new or drawn_anew(original, protected)
    return [
        s.name
        for s in specs(Kind.RISK)
        if s.judges and (synthetic or s.name in asked or "synthetic" not in s.file_names)
    ]

"""Every measure on odd data: a number in its bounds, nan with a note, or an error of ours."""

import math
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

import sdckit as sdc
from fuzz.odd_frames import SEARCH, microdata, options, protected_from
from sdckit.methods.registry import specs
from sdckit.methods.spec import Compares, Kind, Spec

MEASURES = [s for s in specs() if s.kind is not Kind.PROTECTION]


def told(spec: Spec, data: sdc.Microdata, draw) -> dict:
    """Options that no schema can describe: tables and formulas."""
    fields = spec.options.model_fields
    if "formula" in fields and fields["formula"].is_required():
        columns = [f"`{c}`" for c in data.columns if "`" not in c]
        left = draw(st.sampled_from([*columns, *(f"log({c})" for c in columns), "1"]))
        right = draw(st.lists(st.sampled_from([*columns, "x", "1", "C(x)"]), min_size=1, max_size=3))
        return {"formula": f"{left} ~ {' + '.join(right)}"}
    if "population" in fields and fields["population"].is_required():
        return {"population": data.frame}
    if "holdout" in fields and fields["holdout"].is_required():
        return {"holdout": data.frame}
    return {}


@pytest.mark.parametrize("spec", [pytest.param(s, id=s.name) for s in MEASURES])
def test_a_number_in_its_bounds_or_nan_with_a_note_or_our_error(spec):
    @SEARCH
    @given(st.data())
    def fuzz(drawn):
        original = drawn.draw(microdata(spec.needs))
        protected = drawn.draw(protected_from(original))
        chosen = drawn.draw(options(spec, original, told(spec, original, drawn.draw)))
        files = [protected] if spec.compares is Compares.ONE_FILE else [original, protected]
        before = [d.frame.clone() for d in files]
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                result = spec.call(*files, **chosen)
            except sdc.SdcError:
                result = None
        for data, frame in zip(files, before, strict=True):
            assert data.frame.schema == frame.schema
            assert data.frame.equals(frame)
        if result is None:
            return
        assert spec.name in repr(result)
        if drawn.draw(st.integers(0, 2)) == 0:  # a picture takes longer than all the rest
            assert spec.name in result._repr_html_()
        low, high = spec.bounds
        if math.isnan(result.value):
            assert result.notes, "nan without a note"
        else:
            assert low - 1e-9 <= result.value <= high + 1e-9

    fuzz()

"""Messages: what was given stays short, and the nearest name is found."""

import numpy as np
import polars as pl
import pytest

import sdckit as sdc
from sdckit._support.messages import did_you_mean
from sdckit.data.roles import Role
from sdckit.errors import LONGEST, OptionError, preview


def test_a_table_is_shown_by_its_size():
    assert preview(pl.DataFrame({"x": range(3)})) == "DataFrame of 3 × 1"
    assert preview(np.zeros((2, 1000))) == "ndarray of 2 × 1,000"
    assert preview(np.float64(2)) == repr(np.float64(2))


def test_long_values_are_cut_and_stand_in_one_line():
    assert len(preview(list(range(1000)))) == LONGEST + 1
    assert preview("a\nb") == r"'a\nb'"
    assert "\n" not in preview(pl.Series([1, 2]).to_frame().lazy())


def test_given_objects_are_short_and_our_own_words_are_whole():
    table = pl.DataFrame({"x": range(300)})
    assert str(OptionError("No.", given=table)) == "No. Given: DataFrame of 300 × 1."
    words = "word " * 60 + "end"
    assert words in str(OptionError("No.", given=words))
    assert str(OptionError("No.", given="a sentence.")) == "No. Given: a sentence."


@pytest.mark.parametrize(
    ("name", "known", "found"),
    [
        ("key", Role, "'keys'"),
        ("maxrisk", ["measures", "max_risk"], "'max_risk'"),
        ("MaxRisk", ["measures", "max_risk"], "'max_risk'"),
        ("shar", ["per_record", "share"], "'share'"),
        ("reidentifications", ["above", "expected_reidentifications_of_all_records"], "'expected_re"),
        (5, ["fifty"], ""),
        ("seed", ["weighted", "variables"], ""),
    ],
)
def test_the_nearest_name(name, known, found):
    hint = did_you_mean(name, known)
    assert hint.startswith(f"Did you mean {found}") if found else hint == ""


def test_read_suggests_the_role_that_was_meant(survey):
    with pytest.raises(OptionError, match=r"read has no option 'key'. Allowed: keys.*Did you mean 'keys'\?"):
        sdc.read(survey.frame, key="sex")
    with pytest.raises(OptionError, match=r"Did you mean 'weight'\?"):
        sdc.read(survey.frame, weights="weight")
    with pytest.raises(sdc.SdcError, match=r"Did you mean 'keys'\?"):
        survey.with_roles(key="sex")
    with pytest.raises(OptionError, match=r"Did you mean 'keys'\?"):
        sdc.Plan.parse("data: {key: sex}")
    with pytest.raises(OptionError, match=r"Did you mean 'max_risk'\?"):
        sdc.assess(survey, survey, maxrisk=0.1)


def test_warnings_of_read_name_the_line_that_called_it():
    frame = pl.DataFrame({"id": [1, 1], "x": [1, 2]})
    with pytest.warns(UserWarning, match="repeated") as caught:
        sdc.read(frame, id="id")
    assert caught[0].filename == __file__

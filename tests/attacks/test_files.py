"""The attacks succeed and the honest files resist: without that, a verdict on them would prove nothing."""

import sdckit as sdc
from attacks.case import named
from attacks.files import ATTACKS, HONEST

# of the attacks, those in which one column or a few tell what a step hid
TOLD = (
    "keys_under_other_names",
    "key_dropped_and_copied_by_hand",
    "copy_of_a_key",
    "copy_of_a_key_in_other_codes",
    "birth_year_beside_classes_of_age",
    "top_coded_age_beside_birth_year",
    "last_digit_of_age",
    "two_sets_of_classes",
    "blanks_told_by_the_stratum",
    "blanks_told_by_the_household",
    "weights_that_tell_the_region",
    "household_numbers_with_the_region",
    "year_of_birth_inside_a_number",
    "file_sorted_by_what_was_hidden",
    "file_sorted_by_a_dropped_key",
    "free_text",
    "dates_without_a_role",
    "a_date_forgotten_beside_its_year",
    "column_before_the_step",
    "blanks_and_their_imputation",
    "several_columns_tell_together",
    "logarithm_of_a_hidden_number",
    "total_less_its_parts",
    "wage_an_hour_and_hours",
    "the_same_in_other_units",
    "households_by_their_order",
    "size_of_the_household_counted",
)


def test_there_are_enough_and_each_has_its_own_name():
    assert len(ATTACKS) >= 40
    assert len(HONEST) >= 20
    names = [case.name for case in (*ATTACKS, *HONEST)]
    assert len(set(names)) == len(names)
    assert all(case.why.endswith(".") for case in (*ATTACKS, *HONEST))


@named(ATTACKS)
def test_the_attack_succeeds(case):
    assert isinstance(case.original, sdc.Microdata)
    assert isinstance(case.protected, sdc.Microdata)
    assert case.least > 0
    assert case.hits() >= case.least


@named(HONEST)
def test_the_honest_file_resists(case):
    assert case.hits() <= case.most
    assert case.most <= max(case.max_risk * case.protected.height, 10)


@named([case for case in ATTACKS if case.name in TOLD])
def test_the_telling_column_is_found(case):
    assert sdc.risk.revealing_columns(case.original, case.protected).figures["alarms"] > 0


def test_all_telling_columns_are_among_the_attacks():
    assert set(TOLD) <= {case.name for case in ATTACKS}


@named(HONEST)
def test_no_column_of_an_honest_file_is_accused(case):
    try:
        result = sdc.risk.revealing_columns(case.original, case.protected)
    except sdc.SdcError:
        assert case.name in ("new_ids_in_a_new_order", "sample_of_a_file")  # their records are not linked
        return
    assert result.figures["alarms"] == 0

"""Pieces of HTML: everything is escaped, and a picture that fails leaves the numbers in place."""

from sdckit._support.html_text import bullets, paragraph, picture, table

NASTY = "<img src=x onerror=alert(1)>&\"'"
SAFE = "&lt;img src=x onerror=alert(1)&gt;&amp;&quot;&#x27;"


def test_every_text_is_escaped():
    assert paragraph(NASTY, strong=True) == f"<p><b>{SAFE}</b></p>"
    assert bullets([NASTY], NASTY) == f"<p>{SAFE}</p><ul><li>{SAFE}</li></ul>"
    made = table([NASTY, "n"], [[NASTY, NASTY]])
    assert made.count(SAFE) == 3
    assert "<img" not in made


def test_nothing_is_shown_of_nothing():
    assert (bullets([], "Warnings"), table(["a"], []), paragraph("")) == ("", "", "")


def test_a_picture_that_cannot_be_drawn_is_left_out():
    def fails():
        raise ZeroDivisionError

    assert picture(fails, "a chart") == ""


def test_pictures_have_ids_by_their_content():
    import altair as alt

    def bars(height):
        data = alt.Data(values=[{"a": "x", "b": height}])
        return alt.Chart(data).mark_bar(clip=True).encode(x="a:N", y="b:Q")

    low, high, again = (picture(lambda h=h: bars(h), NASTY) for h in (1, 2, 1))
    ids = [drawing.split('id="')[1].split('"')[0] for drawing in (low, high, again)]
    assert ids[0] == ids[2] != ids[1]
    assert "<img" not in low

"""What estimates from differentially private files leave out."""

from collections.abc import Iterable

from sdckit.data.microdata import Microdata


def noise_note(files: Iterable[Microdata]) -> tuple[str, ...]:
    """A note where noise was added to what a file was made from: no variance here counts it."""
    if any(entry.effects.privacy for data in files for entry in data.log):
        return (
            "The noise of differential privacy is not in the variances: intervals from the protected file "
            "are too narrow, and further sets from the same noise do not show it.",
        )
    return ()

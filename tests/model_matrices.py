"""Model matrices of whole files in memory."""

from sdckit.estimate.formula import encodings, model_matrix


def matrices(model, files, *, binary):
    """The formula on every file, None where a column is missing, and the notes."""
    encoded, notes = encodings(model, files, binary=binary)
    made = [
        None if how is None else model_matrix(model, how, data.frame)
        for data, how in zip(files, encoded, strict=True)
    ]
    return made, notes

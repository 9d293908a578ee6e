"""Store: finished points kept on disk by content, so that an interrupted run continues."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any

from sdckit._support.files import write_text
from sdckit._version import __version__
from sdckit.choose.risk_utility_map import Point
from sdckit.choose.scenario import Scenario
from sdckit.data.microdata import Microdata
from sdckit.data.privacy import PrivacyLoss
from sdckit.engine.frames import accept
from sdckit.errors import EngineError, SdcError
from sdckit.estimate.estimated import Estimated
from sdckit.methods.serialise import to_builtin


@dataclass(frozen=True, slots=True)
class Store:
    """A folder of small JSON files: the results of one scenario with one seed, for internal use.

    The data are not in them, but the estimate of a small domain can be the value of one record.
    """

    folder: Path
    about: str  # fingerprint of the data, the measures and the program

    @classmethod
    def of(cls, folder: Path, about: str) -> "Store":
        """The store in a folder, which is made where it is not there."""
        folder.mkdir(parents=True, exist_ok=True)
        return cls(folder, about)

    def get(self, scenario: Scenario, seed: int) -> Point | None:
        """The finished point, or None where there is none (or it cannot be read)."""
        try:
            kept = json.loads(self._path(scenario, seed).read_text(encoding="utf-8"))
            return Point(
                scenario.name,
                scenario,
                float(kept["risk"]),
                float(kept["loss"]),
                kept["risk_values"],
                kept["loss_values"],
                kept["seconds"],
                extra=kept["extra"],
                left_out=kept["left_out"],
                estimates=tuple(Estimated(*line) for line in kept["estimates"]),
                warnings=tuple(kept["warnings"]),
                lost={name: tuple(columns) for name, columns in kept["lost"].items()},
                privacy=tuple(PrivacyLoss.of(one) for one in kept["privacy"]),
                new_records=kept["new_records"],
                not_judged=kept["not_judged"],
                found_by=tuple((name, share, own) for name, share, own in kept["found_by"]),
            )
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def put(self, point: Point, seed: int) -> None:
        """Keep a point that succeeded; failures are tried again."""
        if not point.ok:
            return
        kept = {
            "risk": point.risk,
            "loss": point.loss,
            "risk_values": dict(point.risk_values),
            "loss_values": dict(point.loss_values),
            "seconds": point.seconds,
            "extra": dict(point.extra),
            "left_out": dict(point.left_out),
            "estimates": [e.as_list() for e in point.estimates],
            "warnings": list(point.warnings),
            "lost": dict(point.lost),
            "new_records": point.new_records,
            "not_judged": point.not_judged,
            "found_by": [list(one) for one in point.found_by],
            "privacy": [asdict(loss) for loss in point.privacy],
        }
        write_text(json.dumps(kept), self._path(point.scenario, seed))

    def _path(self, scenario: Scenario, seed: int) -> Path:
        content = [{step.method: dict(step.options)} for step in scenario.steps]  # notes change nothing
        steps = json.dumps(content, sort_keys=True, default=str)
        return self.folder / f"{sha256(f'{self.about}|{seed}|{steps}'.encode()).hexdigest()[:40]}.json"


def fingerprint(data: Microdata, about: Mapping[str, Any]) -> str:
    """A hash of the data, the roles, the judging and the version of sdckit."""
    if data.engine != "polars":
        raise EngineError(
            "Results can only be kept for data in memory.",
            given=f"the {data.engine} engine",
            hint="Leave cache away, or data.collect() first.",
        )
    content = BytesIO()
    data.frame.rechunk().write_ipc(content)
    rest = json.dumps(
        [data.roles.as_dict(), repr(data.labels), _hashed(about), __version__], sort_keys=True, default=str
    )
    return sha256(content.getbuffer().tobytes() + rest.encode()).hexdigest()


def _hashed(value: Any) -> Any:
    """Options as plain data, with tables replaced and files followed by a hash of their content."""
    if isinstance(value, Microdata):
        value = value.frame
    if isinstance(value, Mapping):
        return {str(k): _hashed(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_hashed(v) for v in value]
    if isinstance(value, str | Path) and (content_of := _file(Path(value))) is not None:
        return [str(value), sha256(content_of).hexdigest()]
    if isinstance(value, str | int | float | bool | None):
        return value
    try:
        content = BytesIO()
        accept(value)[0].write_ipc(content)
        return sha256(content.getbuffer()).hexdigest()
    except (SdcError, AttributeError):
        return to_builtin({"": value})[""]


def _file(path: Path) -> bytes | None:
    """The content of an existing file; None where it is none, as most texts are not."""
    try:
        return path.expanduser().read_bytes()
    except (OSError, ValueError, RuntimeError):  # also a text too long for a name, or of an unknown user
        return None

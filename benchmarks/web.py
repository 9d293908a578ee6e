"""How quick the page is: role change to verdict, undo, slices of rows while a job runs, Stop.

Run it with `python -m benchmarks.web [records …]`. Seconds by the clock, of requests without a network.
"""

import asyncio
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

import httpx

from sdckit.web.app import Page
from sdckit.web.guard import Guard

SIZES = (10_000, 100_000, 1_000_000)
PORT = 4712
HOME = f"http://127.0.0.1:{PORT}"
KEYS = ("region", "sex", "age", "education", "household_size")


class Measured:
    """A page with the demo survey, and how long it takes to do things on it."""

    def __init__(self, client: httpx.AsyncClient) -> None:
        self._client = client
        self._first: float | None = None  # when something was known before the end

    async def state(self) -> Any:
        return (await self._client.get("/api/state")).json()

    async def change(self, action: str, **content: Any) -> Any:
        version = (await self.state())["version"]
        content = {"version": version, "action": action, **content}
        return (await self._client.post("/api/change", json=content)).json()

    async def idle(self) -> Any:
        while True:
            state = await self.state()
            if self._first is None and any("so_far" in job for job in state["jobs"]):
                self._first = perf_counter()
            if not state["jobs"]:
                return state
            await asyncio.sleep(0.005)

    async def run(self, n: int) -> dict[str, float]:
        found: dict[str, float] = {}
        start = perf_counter()
        await self._client.post("/api/open", json={"demo": "survey", "n": n})
        await self.idle()
        found["open, described"] = perf_counter() - start
        await self.change("roles", roles={c: ["keys"] for c in KEYS[:-1]} | {"weight": ["weight"]})
        await self.idle()
        for name, roles in (
            ("one more key → verdict", {KEYS[-1]: ["keys"]}),
            ("a sensitive variable → verdict", {"health": ["sensitive"]}),
            ("a number → verdict", {"income": ["numeric"]}),
            ("a second number → verdict", {"expenditure": ["numeric"]}),
        ):
            start, self._first = perf_counter(), None
            await self.change("roles", roles=roles)
            state = await self.idle()
            assert "verdict" in state["results"]["A"], state["results"]["A"]
            found[name] = perf_counter() - start
            if self._first is not None:  # in large files only
                found[f"{name}: first answers"] = self._first - start
        start = perf_counter()
        await self._client.post("/api/history", json={"to": state["position"] - 1})
        await self.idle()
        found["undo, with the panel"] = perf_counter() - start
        step = {"scenario": "A", "method": "suppress", "options": {"k": 3}}
        await self.change("add_step", **step)
        slices = []
        for at in range(0, 20):
            start = perf_counter()
            await self._client.get("/api/rows", params={"file": state["facts"]["rows"], "at": at * n // 20})
            slices.append(perf_counter() - start)
        found["slice while a job runs (slowest of 20)"] = max(slices)
        running = (await self.state())["jobs"]
        start = perf_counter()
        for job in running:
            await self._client.delete(f"/api/jobs/{job['id']}")
        await self.idle()
        found["Stop"] = perf_counter() - start if running else float("nan")
        return found


async def measure(n: int) -> dict[str, float]:
    """All figures at one size."""
    with tempfile.TemporaryDirectory() as folder:
        page = Page(Path(folder), (Path(folder),))
        guard = Guard(page.app(), port=PORT)
        try:
            async with httpx.AsyncClient(
                transport=httpx.ASGITransport(guard), base_url=HOME, headers={"origin": HOME}, timeout=None
            ) as client:
                await client.get(f"/login?token={guard.token}")
                await Measured(client).run(2000)  # compiled, imported
                await client.post("/api/history", json={"to": 0})
                return await Measured(client).run(n)
        finally:
            page.session.close()


def section(sizes: Sequence[int]) -> str:
    """The figures as a table, a part of the page of benchmarks."""
    columns = {n: asyncio.run(measure(n)) for n in sizes}
    lines = ["| | " + " | ".join(f"{n:,} records" for n in columns) + " |", "|---|" + "---:|" * len(columns)]
    for name in dict.fromkeys(name for found in columns.values() for name in found):
        cells = (f"{found[name]:.2f}" if name in found else "" for found in columns.values())
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(section([int(text) for text in sys.argv[1:]] or SIZES))

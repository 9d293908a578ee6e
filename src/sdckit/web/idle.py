"""The end of a page that nobody uses: its copy of the data must not lie about for ever."""

from collections.abc import Callable
from threading import Event, Thread
from time import monotonic
from typing import Any

from sdckit.web.guard import App, Message, Receive, Send

WARNING = 600.0  # seconds before the end in which the page says so
EVENTS = "/api/events"  # a connection that a tab keeps open, or opens again, is no use of the page


class Idle:
    """Counts the time since the last request, and ends the program when it is too long.

    Work under way is use. `tell` is called before the end with ("ending", {"seconds": …}), with
    ("ending", None) where somebody came back, and with ("ended", {…}) at the end.

    >>> now, told = [0.0], []
    >>> idle = Idle(after=100, busy=lambda: False, tell=lambda *event: told.append(event), end=lambda: None,
    ...             clock=lambda: now[0])
    >>> for now[0] in (10, 50, 101):
    ...     ended = idle.look()
    >>> [name for name, _ in told], ended
    (['ending', 'ended'], True)
    """

    def __init__(
        self,
        *,
        after: float,
        busy: Callable[[], bool],
        tell: Callable[[str, Any], None],
        end: Callable[[], None],
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self._after, self._busy, self._tell, self._end, self._clock = after, busy, tell, end, clock
        self._seen = clock()
        self._warned = False
        self._closed = Event()

    def watch(self, app: App) -> App:
        """The application, whose requests are noticed."""

        async def noticed(scope: Message, receive: Receive, send: Send) -> None:
            if scope["type"] == "http" and scope["path"] != EVENTS:
                self.use()
            await app(scope, receive, send)

        return noticed

    def use(self) -> None:
        """Somebody is there."""
        self._seen = self._clock()
        if self._warned:
            self._warned = False
            self._tell("ending", None)

    def look(self) -> bool:
        """Warn or end where it is time; whether it has ended."""
        if self._busy():
            self.use()
        left = self._after - (self._clock() - self._seen)
        if left <= 0:
            self._tell("ended", {"why": "nobody used it"})
            self._end()
            return True
        if left <= min(WARNING, self._after / 2) and not self._warned:
            self._warned = True
            self._tell("ending", {"seconds": round(left)})
        return False

    def start(self) -> None:
        """Look from time to time, in a thread of its own."""
        pause = min(30.0, self._after / 20)

        def looking() -> None:
            while not self._closed.wait(pause):
                if self.look():
                    return

        Thread(target=looking, daemon=True).start()

    def close(self) -> None:
        """Look no more."""
        self._closed.set()

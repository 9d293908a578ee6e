"""Who may talk to the page: this machine's browser with our token, and nobody else."""

from collections.abc import Awaitable, Callable, MutableMapping
from hmac import compare_digest
from secrets import token_urlsafe
from typing import Any
from urllib.parse import parse_qs

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Message, Receive, Send], Awaitable[None]]

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
WRONG_KEY = (
    "This key is not the one of this start of sdckit web, or it was used before. Open the address that was "
    "printed. If the page was opened and not by you, end sdckit web: somebody else on this machine did it."
)
HOSTS = ("127.0.0.1", "localhost", "[::1]")
READING = ("GET", "HEAD")


class Guard:
    """Checks every request before the page sees it, and sets the headers of every answer.

    The Host must be this machine with our port (a foreign name that leads here is refused), what changes
    something must come from our own page, and a cookie must hold the token of this start. The token is handed
    over in the address that is printed, and goes from there into the cookie, which is named after the
    port: browsers share cookies between the ports of a machine.
    """

    def __init__(self, app: App | None = None, *, port: int) -> None:
        self.app, self.port = app, port
        self.token = token_urlsafe(32)
        self._once: set[str] = set()
        self.cookie = f"sdckit_{port}"

    @property
    def address(self) -> str:
        """The address to open, which holds the token."""
        return f"http://127.0.0.1:{self.port}/login?token={self.token}"

    def address_for_once(self) -> str:
        """An address that opens the page a single time: for a command line, which other users can read."""
        key = token_urlsafe(32)
        self._once.add(key)
        return f"http://127.0.0.1:{self.port}/login?token={key}"

    @property
    def _app(self) -> App:
        assert self.app is not None
        return self.app

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """One request: refused, exchanged for a cookie, or passed on."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
        elif scope["type"] != "http":
            return  # no web sockets here
        elif reason := self._refusal(scope):
            await _answer(send, 403, reason)
        elif scope["path"] == "/login":
            await self._login(scope, send)
        elif not self._known(_headers(scope).get("cookie", "")):
            await _answer(
                send, 403, "Open the address that sdckit web printed: it holds the key to this page."
            )
        else:
            await self._app(scope, receive, _with_headers(send))

    def _refusal(self, scope: Message) -> str:
        headers = _headers(scope)
        ours = {f"{host}:{self.port}" for host in HOSTS}
        if headers.get("host", "") not in ours:
            return "This page is for programs on this machine only."
        if headers.get("sec-fetch-site", "none") not in ("same-origin", "none"):
            return "Requests from other pages are refused."
        if scope["method"] not in READING and headers.get("origin", "") not in {f"http://{h}" for h in ours}:
            return "Requests from other pages are refused."
        return ""

    async def _login(self, scope: Message, send: Send) -> None:
        given = parse_qs(scope.get("query_string", b"").decode("latin-1")).get("token", [""])[0]
        if given in self._once:
            self._once.discard(given)
        elif not compare_digest(given.encode(), self.token.encode()):
            await _answer(send, 403, WRONG_KEY)
            return
        cookie = f"{self.cookie}={self.token}; Path=/; HttpOnly; SameSite=Strict"
        await _answer(send, 303, "", {"location": "/", "set-cookie": cookie})

    def _known(self, cookies: str) -> bool:
        """Whether our cookie is among them; what other programs on this machine set does not matter."""
        pairs = (part.strip().partition("=") for part in cookies.split(";"))
        given = [value for name, _, value in pairs if name == self.cookie]
        return any(compare_digest(value.encode(), self.token.encode()) for value in given)


def _headers(scope: Message) -> dict[str, str]:
    return {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}


def _with_headers(send: Send) -> Send:
    async def guarded(message: Message) -> None:
        if message["type"] == "http.response.start":
            kept = [pair for pair in message.get("headers", []) if pair[0].decode("latin-1") not in HEADERS]
            message["headers"] = [*kept, *((n.encode(), v.encode()) for n, v in HEADERS.items())]
        await send(message)

    return guarded


async def _answer(send: Send, status: int, text: str, more: dict[str, str] | None = None) -> None:
    headers = {"content-type": "text/plain; charset=utf-8", **HEADERS, **(more or {})}
    start = {"type": "http.response.start", "status": status}
    await send({**start, "headers": [(n.encode(), v.encode()) for n, v in headers.items()]})
    await send({"type": "http.response.body", "body": text.encode()})

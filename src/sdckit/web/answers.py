"""What is sent to the page's routes, within limits, and errors as answers."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from typing import Any

from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response

from sdckit._support.files import is_full
from sdckit.errors import OptionError, SdcError
from sdckit.web.session import StaleError
from sdckit.web.worker import FULL, error_as_dict

LARGEST_REQUEST = 4 * 1024**2
Handler = Callable[[Request], Awaitable[Response]]


async def blocks(request: Request, most: int, hint: str = "") -> AsyncIterator[bytes]:
    """What is sent, refused by the length it announces and, since that may be a lie, while it is read."""
    allowed = f"{most // 1024**2:,} MB"
    length = request.headers.get("content-length", "0")
    if not (length.isascii() and length.isdigit()) or int(length) > most:
        raise OptionError("What was sent is too large.", allowed=allowed, hint=hint)
    size = 0
    async for block in request.stream():
        size += len(block)
        if size > most:
            raise OptionError("What was sent is too large.", allowed=allowed, hint=hint)
        yield block


async def json_of(request: Request) -> Mapping[str, Any]:
    """What the page sent, as a mapping of what can also be sent back."""
    text = b"".join([block async for block in blocks(request, LARGEST_REQUEST)])
    try:
        content = json.loads(text)
        json.dumps(content, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError):  # not JSON; NaN, Infinity, half a character
        raise OptionError("The request is not JSON.") from None
    if not isinstance(content, Mapping):
        raise OptionError("The request must be a JSON object.")
    return content


def safe(handler: Handler) -> Handler:
    """Our errors as JSON with what, given, allowed and hint; 409 for a change of an old document."""

    async def answered(request: Request) -> Response:
        try:
            return await handler(request)
        except StaleError:
            return JSONResponse({"what": "The page was not up to date; nothing is lost."}, status_code=409)
        except SdcError as error:
            return JSONResponse(error_as_dict(error), status_code=400)
        except (
            ValueError,
            TypeError,
            AttributeError,
            LookupError,
            RuntimeError,
            OSError,
            ClientDisconnect,
        ) as error:
            # Not what the page sends, or a fault of ours. Its words may hold values of records: not told.
            what = f"This could not be understood ({type(error).__name__})."
            return JSONResponse(FULL if is_full(error) else {"what": what, "hint": ""}, status_code=400)

    return answered

"""Serve the page to browsers on this machine, and to its own pages alone."""

import errno
import json
import secrets
import socket
import webbrowser
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pyarrow as pa
import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from pckid._utils.jobs import Job, preload
from pckid.frontends.app.answer import MAX_FILE, TOO_LARGE, Desk, Wrong

ADDRESS = "127.0.0.1"
MAX_REQUEST = 4 << 20
"""Bytes that a question of the page may have."""
STATIC = Path(__file__).parent / "static"
_PORTS = range(8501, 8601)
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
# The report brings a policy of its own; in a frame without an origin it reaches nothing here.
_POLICY_OF_FILES = "sandbox allow-scripts allow-downloads; frame-ancestors 'self'"
_HEADERS = [
    (b"cache-control", b"no-store"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-content-type-options", b"nosniff"),
]


class OwnPagesOnly:
    """ASGI middleware that refuses requests under a foreign name or from a foreign page.

    A page of another site can make a browser send requests to this machine, directly (then Origin
    or Sec-Fetch-Site says so) or under a name of its own that leads to 127.0.0.1 (then Host does).
    What is let through besides needs the token in the address, which only the reader was told.
    """

    def __init__(self, app: Any, port: int) -> None:
        self.app = app
        self.hosts = {f"{name}:{port}".encode() for name in (ADDRESS, "localhost")}

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        async def send_with_headers(message: Any) -> None:
            if message["type"] == "http.response.start":
                message["headers"].extend(_HEADERS)
            await send(message)

        if scope["type"] == "lifespan" or self._is_own(scope["headers"]):
            await self.app(scope, receive, send_with_headers)
        else:
            await PlainTextResponse("Foreign host or origin", 403)(scope, receive, send)

    def _is_own(self, headers: list[tuple[bytes, bytes]]) -> bool:
        """Whether a request names this server, and comes from its pages or from no page."""
        found: dict[bytes, list[bytes]] = {}
        for name, value in headers:
            found.setdefault(name, []).append(value)
        hosts, origins = found.get(b"host", []), found.get(b"origin", [])
        if len(hosts) != 1 or hosts[0] not in self.hosts:
            return False
        own = all(origin == b"http://" + hosts[0] for origin in origins)
        return own and {b"same-origin", b"none"}.issuperset(found.get(b"sec-fetch-site", []))


def make_app(token: str, port: int, desk: Desk) -> Starlette:
    """Make the application: the page, its files, and what it asks, all below the token."""

    async def ask(request: Request) -> Response:
        content = await _read(request, MAX_REQUEST)
        try:
            asked = json.loads(content)
        except (ValueError, RecursionError):
            asked = None
        if not isinstance(asked, dict):
            return PlainTextResponse("Not understood", 400)
        return JSONResponse(await run_in_threadpool(desk.answer, asked))

    async def take(request: Request) -> Response:
        content = await _read(request, MAX_FILE)
        try:
            return JSONResponse(desk.take(request.query_params.get("name", "table"), content))
        except Wrong as error:
            return JSONResponse({"wrong": str(error)})

    async def give(request: Request) -> Response:
        name = request.path_params["name"]
        try:
            content = desk.file_of(request.path_params["key"], name)
        except (Wrong, KeyError):
            return PlainTextResponse("No longer in memory", 404)
        headers = {"content-security-policy": _POLICY_OF_FILES}
        if "as" in request.query_params:
            told = quote(request.query_params["as"])
            headers["content-disposition"] = f"attachment; filename*=UTF-8''{told}"
            return Response(content, headers=headers, media_type="application/octet-stream")
        if name != "report.html":
            return PlainTextResponse("Not shown", 404)
        return Response(content, headers=headers, media_type="text/html")

    async def page(request: Request) -> Response:
        content = (STATIC / "index.html").read_bytes()
        headers = {"content-security-policy": _POLICY}
        return Response(content, headers=headers, media_type="text/html")

    routes = [
        Route("/", page),
        Route("/ask", ask, methods=["POST"]),
        Route("/file", take, methods=["POST"]),
        Route("/made/{key}/{name}", give),
        Mount("/static", StaticFiles(directory=STATIC)),
    ]
    return Starlette(
        routes=[Mount(f"/{token}", routes=routes)],
        middleware=[Middleware(OwnPagesOnly, port=port)],
        exception_handlers={_TooLarge: _refuse, ClientDisconnect: _refuse},
    )


class _TooLarge(Exception):
    """A request with more bytes than it may have."""


def _refuse(request: Request, error: Exception) -> Response:
    # What is still on its way is not read.
    return JSONResponse({"wrong": TOO_LARGE}, 413, {"connection": "close"})


async def _read(request: Request, most: int) -> bytes:
    """Read a request piece by piece, up to so many bytes."""
    told = request.headers.get("content-length", "0")
    if not told.isdecimal() or int(told) > most:
        raise _TooLarge
    content = bytearray()
    async for piece in request.stream():
        content += piece
        if len(content) > most:
            raise _TooLarge
    return bytes(content)


def open_port(port: int | None) -> socket.socket:
    """Open a port, 0 for any; by default the first free one from 8501 on."""
    candidates = _PORTS if port is None else (port,)
    for candidate in candidates:
        try:
            return socket.create_server((ADDRESS, candidate))
        except OSError as error:
            if error.errno != errno.EADDRINUSE or candidate == candidates[-1]:
                raise
    raise AssertionError


def make_address(listener: socket.socket) -> tuple[str, str]:
    """Make the address of the page, and the token in it that nobody else knows."""
    token = secrets.token_urlsafe(16)
    return f"http://{ADDRESS}:{listener.getsockname()[1]}/{token}/", token


def serve(listener: socket.socket, address: str, token: str, *, browser: bool) -> None:
    """Serve the page until the process is told to stop; open it in a browser if asked to."""
    # Its own pool would keep the memory of tables that threads read that have ended.
    pa.set_memory_pool(pa.system_memory_pool())
    preload(["pckid.frontends.app.work"])
    desk = Desk(Job)
    app = make_app(token, listener.getsockname()[1], desk)
    if browser:
        # It waits for the answer: the port is open already.
        webbrowser.open(address)
    config = uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=1)
    try:
        uvicorn.Server(config).run(sockets=[listener])
    finally:
        desk.forget(float("inf"))

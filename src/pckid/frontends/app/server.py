"""Serve the app to browsers on this machine, and to its own pages alone."""

import errno
import socket
import tomllib
import webbrowser
from collections.abc import Awaitable, Callable, MutableMapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import uvicorn
from starlette.middleware import Middleware
from starlette.responses import PlainTextResponse
from streamlit.starlette import App
from streamlit.web.bootstrap import load_config_options

from pckid._utils.jobs import preload

ADDRESS = "127.0.0.1"
_FOLDER = Path(__file__).parent
_PORTS = range(8501, 8601)
_POLICY = b"default-src 'self' data: blob: 'unsafe-inline'; frame-ancestors 'self'"
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]


class OwnPagesOnly:
    """ASGI middleware that refuses requests under a foreign name or from a foreign page.

    A page of another site can make a browser send requests to this machine, directly (then Origin
    names the site) or under a name of its own that leads to 127.0.0.1 (then Host does). To what it
    lets through, it adds a policy by which browsers ask nobody else for anything.
    """

    def __init__(self, app: Any, port: int) -> None:
        self.app = app
        self.hosts = {f"{name}:{port}".encode() for name in (ADDRESS, "localhost")}

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        async def send_with_policy(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"].append((b"content-security-policy", _POLICY))
            await send(message)

        if scope["type"] == "lifespan" or self._is_own(scope["headers"]):
            await self.app(scope, receive, send_with_policy)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
        else:
            await PlainTextResponse("Foreign host or origin", 403)(scope, receive, send)

    def _is_own(self, headers: list[tuple[bytes, bytes]]) -> bool:
        """Whether a request names this server, and comes from its pages or from no page."""
        hosts = [value for name, value in headers if name == b"host"]
        origins = [value for name, value in headers if name == b"origin"]
        if len(hosts) != 1 or hosts[0] not in self.hosts:
            return False
        return all(origin == b"http://" + hosts[0] for origin in origins)


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


def serve(listener: socket.socket, *, browser: bool) -> None:
    """Serve the app until the process is told to stop; open it in a browser if asked to."""
    port = listener.getsockname()[1]
    # Its own pool would keep the memory of tables that threads read that have ended.
    pa.set_memory_pool(pa.system_memory_pool())
    preload(["pckid.frontends.app.work"])
    sections = tomllib.loads((_FOLDER / "settings.toml").read_text("utf-8")).items()
    settings = {
        f"{name}.{key}": value for name, section in sections for key, value in section.items()
    }
    load_config_options(settings | {"server.port": port})
    app = App(_FOLDER / "script.py", middleware=[Middleware(OwnPagesOnly, port=port)])
    if browser:
        # It waits for the answer: the port is open already.
        webbrowser.open(f"http://{ADDRESS}:{port}")
    config = uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=1)
    uvicorn.Server(config).run(sockets=[listener])

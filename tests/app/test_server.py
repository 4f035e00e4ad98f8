"""The server answers this machine's browsers and its own pages, and nobody else."""

import http.client
import socket

import pytest

pytest.importorskip("streamlit")

from pckid.frontends.app.server import open_port

FOREIGN = [
    "evil.example",
    "evil.example:{port}",
    "127.0.0.1",
    "127.0.0.1:1",
    "localhost.evil:{port}",
]
WEBSOCKET = {
    "Upgrade": "websocket",
    "Connection": "Upgrade",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
}


def ask(server, path="/", method="GET", **headers):
    """Send one request; return status, headers and the beginning of the body."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=300)
    given = {"Host": f"127.0.0.1:{server.port}"} | headers
    connection.putrequest(method, path, skip_host=True)
    for name, value in given.items():
        connection.putheader(name, value)
    connection.endheaders()
    answer = connection.getresponse()
    body = b"" if answer.status == 101 else answer.read()
    connection.close()
    return answer.status, answer.headers, body


@pytest.mark.parametrize("path", ["/", "/_stcore/health", "/_stcore/host-config"])
def test_own_requests_are_answered(server, path):
    for name in ("127.0.0.1", "localhost"):
        own = f"{name}:{server.port}"
        assert ask(server, path, Host=own)[0] == 200
        assert ask(server, path, Host=own, Origin=f"http://{own}")[0] == 200


@pytest.mark.parametrize(
    "path", ["/", "/_stcore/health", "/media/x.csv", "/_stcore/upload_file/a/b"]
)
@pytest.mark.parametrize("host", FOREIGN)
def test_a_foreign_host_is_refused(server, path, host):
    status, _, body = ask(server, path, Host=host.format(port=server.port))
    assert (status, body) == (403, b"Foreign host or origin")


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "https://127.0.0.1:{port}", "http://127.0.0.1:1"]
)
def test_a_foreign_origin_is_refused(server, origin):
    given = {"Origin": origin.format(port=server.port)}
    for path, method in [("/", "GET"), ("/_stcore/upload_file/a/b", "PUT")]:
        status, headers, _ = ask(server, path, method, **given)
        assert status == 403
        assert "access-control-allow-origin" not in headers


def test_the_websocket_is_for_own_pages_only(server):
    path, own = "/_stcore/stream", f"http://127.0.0.1:{server.port}"
    assert ask(server, path, **WEBSOCKET, Origin=own)[0] == 101
    assert ask(server, path, **WEBSOCKET, Origin="http://evil.example")[0] == 403
    assert ask(server, path, **WEBSOCKET, Origin=own, Host="evil.example")[0] == 403
    named = {"Host": f"evil.example:{server.port}", "Origin": f"http://evil.example:{server.port}"}
    assert ask(server, path, **WEBSOCKET, **named)[0] == 403


def test_pages_may_ask_nobody_else(server):
    policy = ask(server)[1]["content-security-policy"]
    assert "default-src 'self'" in policy
    assert "http" not in policy


def test_other_machines_cannot_connect(server):
    others = {info[4][0] for info in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)}
    for address in {*others, "127.0.0.2"} - {"127.0.0.1"}:
        with pytest.raises(OSError), socket.create_connection((address, server.port), 2):
            pass


def test_a_port_in_use_is_passed_over_or_said():
    with open_port(None) as first, open_port(None) as second:
        taken = first.getsockname()[1]
        assert taken < second.getsockname()[1]
        with pytest.raises(OSError):
            open_port(taken)


def test_the_command_says_that_a_port_is_taken(server):
    from click.testing import CliRunner

    from pckid.frontends.cli.commands import app

    result = CliRunner().invoke(app, ["--port", str(server.port), "--no-browser"])
    assert result.exit_code == 1
    assert f"Port {server.port} cannot" in result.output

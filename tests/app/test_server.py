"""The server answers this machine's browsers and its own pages, and nobody else."""

import gzip
import http.client
import json
import socket
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

pytest.importorskip("uvicorn")

from pckid.frontends.app.answer import MAX_FILE
from pckid.frontends.app.server import STATIC, open_port

FOREIGN = [
    "evil.example",
    "evil.example:{port}",
    "127.0.0.1",
    "127.0.0.1:1",
    "localhost.evil:{port}",
]
PATHS = [("", "GET"), ("ask", "POST"), ("file?name=a.csv", "POST"), ("static/page.js", "GET")]


def ask(server, path="", method="GET", body=None, **headers):
    """Send one request below the token; return status, headers and body."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=300)
    given = {"Host": f"127.0.0.1:{server.port}"} | headers
    path = path if path.startswith("/") else server.path + path
    connection.putrequest(method, path, skip_host=True)
    if body is not None and "Content-Length" not in given:
        given["Content-Length"] = str(len(body))
    for name, value in given.items():
        connection.putheader(name, value)
    connection.endheaders(body)
    answer = connection.getresponse()
    found = answer.status, answer.headers, answer.read()
    connection.close()
    return found


def tell(server, **request):
    """Ask as the page does."""
    status, _, body = ask(server, "ask", "POST", json.dumps(request).encode())
    assert status == 200
    return json.loads(body)


def give(server, content, name="t.csv"):
    status, _, body = ask(server, f"file?name={name}", "POST", content)
    assert status == 200
    return json.loads(body)["file"]


@pytest.mark.parametrize(("path", "method"), PATHS)
def test_own_requests_are_answered(server, path, method):
    body = {"ask": b'{"ask": "about"}'}.get(path, b"a,b\n1,2\n") if method == "POST" else None
    for name in ("127.0.0.1", "localhost"):
        own = f"{name}:{server.port}"
        assert ask(server, path, method, body, Host=own)[0] == 200
        given = {"Origin": f"http://{own}", "Sec-Fetch-Site": "same-origin"}
        assert ask(server, path, method, body, Host=own, **given)[0] == 200


@pytest.mark.parametrize("path", ["/", "/ask", "/file", "/static/page.js", "/x/", "/made/a/b"])
def test_without_the_token_there_is_nothing(server, path):
    for method in ("GET", "POST"):
        status, _, body = ask(server, path, method)
        assert status == 404
        assert b"pckid" not in body
    assert ask(server, server.path[:-2] + "/")[0] == 404


@pytest.mark.parametrize("host", FOREIGN)
def test_a_foreign_host_is_refused(server, host):
    for path, method in PATHS:
        status, _, body = ask(server, path, method, Host=host.format(port=server.port))
        assert (status, body) == (403, b"Foreign host or origin")


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "https://127.0.0.1:{port}", "http://127.0.0.1:1"]
)
def test_a_foreign_origin_is_refused(server, origin):
    given = {"Origin": origin.format(port=server.port)}
    for path, method in PATHS:
        status, headers, _ = ask(server, path, method, **given)
        assert status == 403
        assert "access-control-allow-origin" not in headers


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_what_a_page_of_another_site_sends_without_telling_so_is_refused(server, site):
    for path, method in PATHS:
        assert ask(server, path, method, **{"Sec-Fetch-Site": site})[0] == 403


def test_pages_may_ask_nobody_else(server):
    headers = ask(server)[1]
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "http" not in policy
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert headers["referrer-policy"] == "no-referrer"
    assert ask(server, "static/page.js")[1]["x-content-type-options"] == "nosniff"


def test_the_scripts_of_the_page_write_texts_as_texts_alone():
    for script in STATIC.glob("*.js"):
        text = script.read_text("utf-8")
        assert not [each for each in ("innerHTML", "outerHTML", "insertAdjacent", "document.write",
                                      "eval(", "http:", "https:") if each in text]  # fmt: skip


def test_other_machines_cannot_connect(server):
    others = {info[4][0] for info in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)}
    for address in {*others, "127.0.0.2"} - {"127.0.0.1"}:
        with pytest.raises(OSError), socket.create_connection((address, server.port), 2):
            pass


def test_a_file_of_two_gigabytes_is_refused_before_it_is_read(server):
    status, _, body = ask(server, "file?name=a.csv", "POST", **{"Content-Length": str(2 << 30)})
    assert status == 413
    assert "pckid cluster" in json.loads(body)["wrong"]


def test_a_file_that_does_not_say_how_large_it_is_stops_at_the_limit(server):
    address = ("127.0.0.1", server.port)
    with socket.create_connection(address, 60) as sender:
        head = f"POST {server.path}file?name=a.csv HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n"
        sender.sendall(f"{head}Transfer-Encoding: chunked\r\n\r\n".encode())
        piece = b"%x\r\n%s\r\n" % (1 << 23, b"x" * (1 << 23))
        n_sent = 0
        try:
            while n_sent <= 2 * MAX_FILE:
                sender.sendall(piece)
                n_sent += 1 << 23
        except OSError:
            pass
        # It stopped listening.
        assert n_sent <= 2 * MAX_FILE
    assert tell(server, ask="about")["formats"]


def test_a_request_of_odd_bytes_is_not_understood(server):
    for body in (b"", b"[]", b"\xff", b"{", b"[" * 100_000, b'{"ask": NaN'):
        assert ask(server, "ask", "POST", body)[0] == 400
    assert ask(server, "ask", "POST", **{"Content-Length": str(5 << 20)})[0] == 413
    assert "wrong" in tell(server, ask="__class__")


def test_a_small_file_that_unpacks_to_gigabytes_is_refused(server):
    member = gzip.compress(b"1,2\n" * (1 << 18))
    content = member * 1100
    assert len(content) < 4 << 20
    told = tell(server, ask="look", file=give(server, content, "bomb.csv.gz"))
    assert told["wrong"]
    assert "columns" not in told


def test_files_that_were_made_are_given_to_who_knows_their_name(server):
    for path in ("made/guessed/report.html", "made/guessed/..%2f..%2fpage.js", "made//report.html"):
        assert ask(server, path)[0] == 404
    for path in ("static/../server.py", "static/..%2fserver.py", "static/%2e%2e/answer.py"):
        assert ask(server, path)[0] == 404


def test_fifty_requests_at_a_time_get_each_its_own_answer(server):
    def visit(number):
        name = f"column {number}"
        content = f"{name},b\n" + "\n".join(f"{i * number % 7},{i}" for i in range(12))
        shown = tell(server, ask="look", file=give(server, content.encode()))
        return [column["name"] for column in shown["columns"]] == [name, "b"]

    with ThreadPoolExecutor(50) as pool:
        assert all(pool.map(visit, range(2, 52)))


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


def test_the_page_comes_with_the_package():
    assert {path.name for path in Path(STATIC).iterdir()} == {
        "desk.js", "icon.svg", "index.html", "page.css", "page.js",
    }  # fmt: skip

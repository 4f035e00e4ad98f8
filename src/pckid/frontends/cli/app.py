"""`pckid app`: cluster tables in the browser, without commands."""

import os

import click


@click.command(short_help="Cluster tables in the browser, on this machine alone.")
@click.option("--port", type=click.IntRange(0, 65535),
              help="Port to listen on, 0 for any; by default 8501 or the next.")  # fmt: skip
@click.option("--no-browser", is_flag=True, help="Print the address and open no browser.")
def app(port: int | None, no_browser: bool) -> None:
    """Start the app and open it in the browser: drop a table, see what its columns hold, find
    groups, read the report, download the labels, place new rows. Ctrl-C stops it.

    It listens on 127.0.0.1 only and sends nothing anywhere: tables stay on this machine, in memory.

    \b
    Examples:
      pckid app
      pckid app --port 8600 --no-browser
    """
    from pckid.frontends.cli._say import say

    try:
        from pckid.frontends.app.server import open_port, serve
    except ModuleNotFoundError as error:
        raise click.ClickException(
            f"The app needs {error.name}. Install it with: python -m pip install 'pckid[app]'"
        ) from None
    try:
        listener = open_port(port)
    except OSError as error:
        why = os.strerror(error.errno or 0)
        raise click.ClickException(f"Port {port} cannot be used: {why}.") from None
    say(f"The app is at http://127.0.0.1:{listener.getsockname()[1]} (Ctrl-C stops it).")
    try:
        serve(listener, browser=not no_browser)
    except KeyboardInterrupt:
        say("Stopped.")

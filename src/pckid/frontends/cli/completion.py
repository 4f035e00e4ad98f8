"""`pckid completion`: let the shell complete commands and options."""

import click


@click.command(short_help="Print a script for completion by the shell's Tab key.")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print a script which lets SHELL complete commands and options by the Tab key.

    \b
    Examples:
      pckid completion bash >> ~/.bashrc
      pckid completion zsh >> ~/.zshrc
      pckid completion fish > ~/.config/fish/completions/pckid.fish
    """
    from click.shell_completion import get_completion_class

    from pckid.frontends.cli._run import pckid

    script = get_completion_class(shell)
    assert script is not None  # click has these three
    click.echo(script(pckid, {}, "pckid", "_PCKID_COMPLETE").source())

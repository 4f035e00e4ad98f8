"""`pckid info`: what a model file holds."""

import click


@click.command(short_help="Show what a model file holds.")
@click.argument("model")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def info(model: str, as_json: bool) -> None:
    """Show what MODEL holds: its clusters, its columns, how its table was read, its parameters, and
    the version that wrote it.

    \b
    Examples:
      pckid info model.pckid
      pckid info model.pckid --json
    """
    from pckid._utils.text import brief, counted, printable
    from pckid.frontends.cli._say import print_json
    from pckid.modelfile import describe_model

    found = describe_model(model)
    if as_json:
        print_json(found)
        return
    lines = [f"{found['class']}, written by pckid {found['version']}", ""]
    if "n_clusters" in found:
        lines += [f"Clusters: {found['n_clusters']}"]
        sizes = enumerate(found["cluster_sizes"] or [])
        names = [f" ({name})" if name else "" for name in found["cluster_names"]]
        lines += [f"  {number}{names[number]}: {counted(size, 'row')}" for number, size in sizes]
        lines += [""]
    names = found["feature_names"] or [f"{counted(found['n_features'], 'column')} without names"]
    lines += ["Columns:", *(f"  {brief(name, 80)}" for name in names[:200])]
    lines += [f"  and {len(names) - 200} more"] if len(names) > 200 else []
    kept = {key: values for key, values in found["reading"].items() if values}
    lines += ["", "How its table was read:"] if kept else []
    lines += [f"  {key} = {brief(str(values), 160)}" for key, values in kept.items()]
    lines += ["", "Parameters:"]
    lines += [f"  {key} = {value}" for key, value in sorted(found["parameters"].items())]
    click.echo(printable("\n".join(lines)))

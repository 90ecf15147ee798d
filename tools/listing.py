"""`--show-passes` and `--show-dialects`."""

from __future__ import annotations

from aicc.lowering.context import OWN_PASSES, make_context, registry
from aicc.lowering.pipelines import PIPELINES
from aicc.tools.pass_options import option_infos


def pass_listing() -> str:
    """All passes, ours first, each with one line of help and its options (type, default, help)."""
    loaders = registry().passes
    lines = ["Passes of aicc:"]
    for name in sorted(OWN_PASSES):
        lines += _pass_lines(name, OWN_PASSES[name].summary)
    lines += ["", "Other passes (xDSL and plug-ins):"]
    for name in sorted(set(loaders) - set(OWN_PASSES)):
        lines += _pass_lines(name, None)
    lines += ["", "Named pipelines:"]
    lines += [f"  {name:<36} {_first_line(factory)}" for name, factory in sorted(PIPELINES.items())]
    return "\n".join(lines)


def _pass_lines(name: str, summary: str | None) -> list[str]:
    try:
        module_pass = registry().passes[name]()
    except ImportError as error:
        return [f"  {name:<36} {summary or ''} (cannot be loaded: {error})"]
    lines = [f"  {name:<36} {summary or _first_line(module_pass)}".rstrip()]
    for option in option_infos(module_pass):
        default = "required" if option.default is None else f"default {option.default}"
        lines.append(f"      {option.name:<32} {option.type}, {default}{option.doc and ': ' + option.doc}")
    return lines


def _first_line(documented: object) -> str:
    # Not `inspect.getdoc`, which gives a pass without a docstring that of its base class.
    text = documented.__doc__ or ""
    first = text.strip().partition("\n\n")[0]
    line = " ".join(first.split()).partition(". ")[0].rstrip(".")
    # A dataclass without a docstring of its own gets its signature as one.
    return "" if line.startswith(f"{getattr(documented, '__name__', '')}(") else line


def dialect_listing() -> str:
    """All dialects with the number of ops, attributes and types, and who brings them."""
    context = make_context()
    origins = registry().origins
    lines = [f"  {'dialect':<20} {'ops':>5} {'attributes, types':>18}  from"]
    for name in sorted(origins):
        try:
            dialect = context.get_dialect(name)
        except ImportError as error:
            lines.append(f"  {name:<20} cannot be loaded: {error}")
            continue
        lines.append(
            f"  {name:<20} {len(list(dialect.operations)):>5} {len(list(dialect.attributes)):>18}  {origins[name]}"
        )
    return "\n".join(lines)

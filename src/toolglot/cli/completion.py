"""`toolglot completion`: completes commands, options and their values in a shell.

The scripts for the shells ask `toolglot completion --words`, so that what they offer is always what
this version knows: protocols, providers, dialects, clients.
"""

import argparse
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from toolglot.cli.common import Commands, add_command
from toolglot.dialects.table import DIALECTS
from toolglot.profiles import profiles
from toolglot.registry import PROTOCOLS

_EXAMPLES: Final = (
    'eval "$(toolglot completion bash)"        # in ~/.bashrc',
    "toolglot completion zsh > ~/.zfunc/_toolglot",
    "toolglot completion fish > ~/.config/fish/completions/toolglot.fish",
)

_BASH: Final = """\
_toolglot() {
    local IFS=$'\\n'
    COMPREPLY=($(compgen -W "$(toolglot completion --words "${COMP_WORDS[@]:1:COMP_CWORD}" \
2>/dev/null)" -- "${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _toolglot toolglot
"""
_ZSH: Final = """\
#compdef toolglot
_toolglot() {
    local -a found
    found=("${(@f)$(toolglot completion --words "${(@)words[2,CURRENT]}" 2>/dev/null)}")
    if (( ${#found} )) && [[ -n $found[1] ]]; then compadd -a found; else _files; fi
}
if [[ $funcstack[1] == _toolglot ]]; then _toolglot; else compdef _toolglot toolglot; fi
"""
_FISH: Final = """\
function __toolglot
    set -l words (commandline -opc) (commandline -ct)
    toolglot completion --words $words[2..-1] 2>/dev/null
end
complete -c toolglot -a '(__toolglot)'
"""
_SCRIPTS: Final = {"bash": _BASH, "zsh": _ZSH, "fish": _FISH}

_VALUES: Final[dict[str, Callable[[], Sequence[str]]]] = {
    "PROTOCOL": lambda: tuple(PROTOCOLS),
    "PROVIDER": lambda: tuple(each.name for each in profiles()),
    "DIALECT": lambda: tuple(DIALECTS),
}
"""What can stand for these words of a usage line."""


def add(commands: Commands) -> None:
    """Declare the command."""
    summary = "print the script that completes commands in a shell"
    parser = add_command(commands, "completion", run, summary, *_EXAMPLES)
    parser.add_argument("shell", nargs="?", choices=tuple(_SCRIPTS), help="the shell")
    parser.add_argument("--words", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)


def run(args: argparse.Namespace) -> int:
    """Print the script, or what can follow some words."""
    if args.words is not None:
        from toolglot.cli import parser_for  # noqa: PLC0415 - it imports all commands

        for word in candidates(parser_for(*args.words[:1]), args.words or [""]):
            print(word)
        return 0
    if args.shell is None:
        args.refuse(f"name a shell: {', '.join(_SCRIPTS)}")
    print(_SCRIPTS[args.shell], end="")
    return 0


def candidates(parser: argparse.ArgumentParser, words: Sequence[str]) -> list[str]:
    """What the last of these words can become; nothing where a file is meant."""
    *before, last = [word for word in words if word != "="] or [""]  # bash cuts words at it
    if "--" in before:
        return []
    awaiting: argparse.Action | None = None
    for word in before:
        awaiting, below = _after(parser, word, awaiting)
        parser = below or parser
    option, is_joined, start = last.partition("=")
    if is_joined and option in parser._option_string_actions:
        found = _values(parser._option_string_actions[option])
        return [f"{option}={each}" for each in found if each.startswith(start)]
    if awaiting is not None:
        found = _values(awaiting)
    elif last.startswith("-"):
        found = [name for name in parser._option_string_actions if name.startswith("--")]
    else:
        found = list(_positional(parser))
    return sorted(each for each in found if each.startswith(last))


def _after(
    parser: argparse.ArgumentParser, word: str, awaiting: argparse.Action | None
) -> tuple[argparse.Action | None, argparse.ArgumentParser | None]:
    """The option whose value comes next, and the parser of a command, if the word is one."""
    action = parser._option_string_actions.get(word)
    if awaiting is not None:
        return None, None
    if action is not None:
        return (None if action.nargs == 0 else action), None
    for each in parser._actions:
        if isinstance(each, argparse._SubParsersAction) and word in each.choices:
            return None, each.choices[word]
    return None, None


def _positional(parser: argparse.ArgumentParser) -> Iterator[str]:
    for action in parser._actions:
        if not action.option_strings:
            yield from _values(action)


def _values(action: argparse.Action) -> list[str]:
    if action.choices is not None:
        return [str(each) for each in action.choices]
    name = str(action.metavar or action.dest).upper()
    return list(_VALUES[name]()) if name in _VALUES else []

"""Arguments, with a guess at what was meant by one that is unknown."""

import argparse
from difflib import get_close_matches
from typing import Any, Final

_FEW: Final = 12
"""Choices that are all listed; of more, only those that come close are."""


class Parser(argparse.ArgumentParser):
    """An argument parser that knows what people mistype."""

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        choices = [str(each) for each in action.choices or ()]
        if not choices or value in (action.choices or ()):
            return
        meant = get_close_matches(str(value), choices, n=3)
        guess = f"; perhaps {' or '.join(meant)}?" if meant else ""
        listed = f": expected one of {', '.join(choices)}" if len(choices) <= _FEW else ""
        help_ = "" if meant or listed else f"; `{self.prog} --help` lists what there is"
        raise argparse.ArgumentError(action, f"there is no {value!r}{guess}{listed}{help_}")

    def error(self, message: str) -> Any:
        """Say what is wrong, and what was perhaps meant by an option that is unknown."""
        _, unknown, options = message.partition("unrecognized arguments: ")
        if unknown:
            known = sorted(_options(self))
            for option in options.split():
                meant = get_close_matches(option.partition("=")[0], known, n=1)
                if meant:
                    message += f"; perhaps {meant[0]}?"
                    break
        super().error(message)


def _options(parser: argparse.ArgumentParser) -> set[str]:
    """All options of a parser and of its commands, one of which does not know what was given."""
    found = set(parser._option_string_actions)
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            found.update(*(_options(each) for each in action.choices.values()))
    return found

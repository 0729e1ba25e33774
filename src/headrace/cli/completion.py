"""Generates shell completion scripts from the command's parser: `headrace completion`."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

_HOW = """\
to use it in this shell, or in every shell:
  bash   source <(headrace completion bash)      put this line into ~/.bashrc
  zsh    source <(headrace completion zsh)       put this line into ~/.zshrc, after compinit
  fish   headrace completion fish | source       or write it to ~/.config/fish/completions/headrace.fish
"""


@dataclass(frozen=True, slots=True)
class CompletionFlag:
    """An option, for a completion script."""

    names: tuple[str, ...]  # ``("-q", "--quiet")``
    help: str  # one line of help
    takes_value: bool  # True if a value follows
    choices: tuple[str, ...]  # the valid values; empty if there is no fixed list


@dataclass(frozen=True, slots=True)
class Command:
    """A command, for a completion script; `words` are the values of its arguments, empty if they are files."""

    help: str
    flags: tuple[CompletionFlag, ...]
    words: tuple[str, ...]


def add_parser(commands: Any, whole: argparse.ArgumentParser) -> None:
    """Add `completion` to argparse's `commands`; `whole` is the parser of all commands."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "completion",
        help="print a script that completes this command in a shell",
        description="Print a script that completes this command in a shell.",
        epilog=_HOW,
    )
    parser.set_defaults(run=lambda given: run(given, whole))
    parser.add_argument("shell", choices=tuple(_SCRIPTS), help="the shell")


def run(given: argparse.Namespace, whole: argparse.ArgumentParser) -> int:
    """Print the script, and return 0."""
    print(_SCRIPTS[given.shell](commands_of(whole)))
    return 0


def commands_of(parser: argparse.ArgumentParser) -> dict[str, Command]:
    """Return all commands by name; the empty name has the options before a command."""
    found = {"": Command("", _flags(parser), ())}
    for action in parser._actions:  # noqa: SLF001  argparse has no public way
        if isinstance(action, argparse._SubParsersAction):  # noqa: SLF001
            helps = {choice.dest: choice.help or "" for choice in action._choices_actions}  # noqa: SLF001
            for name, command in action.choices.items():
                found[name] = Command(helps[name], _flags(command), _words(command))
    return found


def _flags(parser: argparse.ArgumentParser) -> tuple[CompletionFlag, ...]:
    return tuple(
        CompletionFlag(
            tuple(action.option_strings),
            (action.help or "").replace("%%", "%"),
            action.nargs != 0,
            tuple(map(str, action.choices or ())),
        )
        for action in parser._actions  # noqa: SLF001
        if action.option_strings
    )


def _words(parser: argparse.ArgumentParser) -> tuple[str, ...]:
    positional = [action for action in parser._actions if not action.option_strings]  # noqa: SLF001
    return tuple(str(word) for action in positional for word in action.choices or ())


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def _bash(commands: Mapping[str, Command]) -> str:
    names = [name for name in commands if name]
    values, words = [], []
    for name, command in commands.items():
        for flag in command.flags:
            if flag.takes_value:
                patterns = "|".join(f"'{name} {spelling}'" for spelling in flag.names)
                values.append(f"        {patterns}) words={_quoted(' '.join(flag.choices))}; valued=1 ;;")
        flags = " ".join(spelling for flag in command.flags for spelling in flag.names)
        others = " ".join(names if not name else command.words)
        words.append(f"        {name or chr(39) * 2}) flags={_quoted(flags)}; others={_quoted(others)} ;;")
    return "\n".join(
        [
            "_headrace() {",
            "    local current=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]}",
            "    local command= flags= others= words= valued= word",
            '    for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do',
            f"        case $word in {'|'.join(names)}) command=$word; break ;; esac",
            "    done",
            "    case $command in",
            *words,
            "    esac",
            '    case "$command $before" in',
            *values,
            "    esac",
            "    if [[ ! $valued ]]; then",
            "        [[ $current == -* ]] && words=$flags || words=$others",
            "    fi",
            "    # If no word fits, `-o default` completes names of files.",
            '    COMPREPLY=($(compgen -W "$words" -- "$current"))',
            "}",
            "complete -o default -F _headrace headrace",
        ]
    )


def _zsh(commands: Mapping[str, Command]) -> str:
    lines = ["#compdef headrace", "_headrace() {", "    local -a commands", "    commands=("]
    lines += [f"        {_quoted(f'{name}:{command.help}')}" for name, command in commands.items() if name]
    lines += [
        "    )",
        "    if (( CURRENT == 2 )); then",
        "        _describe command commands",
        f"        _arguments {' '.join(_zsh_flags(commands['']))}",
        "        return",
        "    fi",
        "    local command=$words[2]",
        "    shift words; (( CURRENT-- ))",
        "    case $command in",
    ]
    for name, command in commands.items():
        if name:
            rest = f"*:word:({' '.join(command.words)})" if command.words else "*:file:_files"
            lines.append(f"        {name}) _arguments {' '.join([*_zsh_flags(command), _quoted(rest)])} ;;")
    return "\n".join([*lines, "    esac", "}", "compdef _headrace headrace"])


def _zsh_flags(command: Command) -> list[str]:
    specifications = []
    for flag in command.flags:
        described = flag.help.replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]").replace(":", "\\:")
        value = ""
        if flag.takes_value:
            value = f":value:({' '.join(flag.choices)})" if flag.choices else ":value:_files"
        specifications += [_quoted(f"*{name}[{described}]{value}") for name in flag.names]
    return specifications


def _fish(commands: Mapping[str, Command]) -> str:
    lines = []
    for name, command in commands.items():
        when = f"__fish_seen_subcommand_from {name}" if name else "__fish_use_subcommand"
        if name:
            lines.append(f"complete -c headrace -f -n __fish_use_subcommand -a {name} -d {_fish_quoted(command.help)}")
        if command.words:
            lines.append(f"complete -c headrace -f -n {_quoted(when)} -a {_quoted(' '.join(command.words))}")
        for flag in command.flags:
            spelled = " ".join(f"-l {s[2:]}" if s.startswith("--") else f"-s {s[1:]}" for s in flag.names)
            value = ""
            if flag.takes_value:
                value = f" -x -a {_quoted(' '.join(flag.choices))}" if flag.choices else " -r"
            lines.append(f"complete -c headrace -n {_quoted(when)} {spelled}{value} -d {_fish_quoted(flag.help)}")
    return "\n".join(lines)


def _fish_quoted(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


_SCRIPTS: dict[str, Callable[[Mapping[str, Command]], str]] = {"bash": _bash, "zsh": _zsh, "fish": _fish}

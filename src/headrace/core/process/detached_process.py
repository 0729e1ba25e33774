"""Starts processes that may outlive this one. Importing `subprocess` takes time, so it is imported where a process starts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from subprocess import DEVNULL, Popen


class DetachedProcess(Popen[bytes]):
    """A process without input or output, in a session of its own, which signals of the caller's terminal do not reach."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        super().__init__(command, env=environment, stdin=DEVNULL, stdout=DEVNULL, stderr=DEVNULL, start_new_session=True)

    def __del__(self) -> None:
        """Do not warn if the process still runs, as `Popen` does."""

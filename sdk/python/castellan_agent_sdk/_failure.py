"""Reasons why the daemon could not be asked, with the texts of castellan's hook (`crates/hook/src/failure.rs`)."""

from typing import Final

_TEXTS: Final = {
    "home": "its home directory is missing or not private to this user",
    "stopped": "it is stopped, so every call is blocked",
    "not_started": "its daemon could not be started",
    "unreachable": "its daemon runs but cannot be reached",
    "disconnected": "its daemon broke off before it answered",
    "protocol": "its daemon answered in a way that this program does not understand",
    "deadline": "its daemon did not answer in time",
    "input": "the call cannot be sent to its daemon",
    "unasked": "its hook was not asked about the call first",
    "internal": "its library failed",
}


class Failure(Exception):
    """The daemon could not be asked, or its answer is not valid. The message denies a call; `word` is for the record."""

    def __init__(self, word: str) -> None:
        # The text never explains how to get the call allowed. The remedy for a stopped castellan is the user's.
        request = "Tell the user to run: castellan start" if word == "stopped" else "Tell the user"
        super().__init__(f"castellan blocked this: {_TEXTS[word]}. {request}")
        self.word = word


def as_failure(error: Exception) -> Failure:
    """Returns an error as a failure."""
    return error if isinstance(error, Failure) else Failure("internal")

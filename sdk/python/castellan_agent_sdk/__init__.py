"""castellan for programs that embed an agent through the Claude Agent SDK. The README describes both parts."""

from ._audit import Attempt, Audit, audited
from ._guard import AskPerson, Guard, PersonQuestion, create_guard
from ._lockdown import DENIED_TOOLS, hardened_options

__all__ = [
    "DENIED_TOOLS",
    "AskPerson",
    "Attempt",
    "Audit",
    "Guard",
    "PersonQuestion",
    "audited",
    "create_guard",
    "hardened_options",
]

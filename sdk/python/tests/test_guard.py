import json
import os
import unittest
from pathlib import Path
from typing import Any

import anyio
from claude_agent_sdk import PermissionResultAllow, PermissionResultDeny, ToolPermissionContext

from castellan_agent_sdk import AskPerson, PersonQuestion, create_guard
from castellan_agent_sdk._daemon import Daemon
from castellan_agent_sdk._failure import Failure
from castellan_agent_sdk._frame import Request
from castellan_agent_sdk._home import Home

from .fake_daemon import Play, daemon, hold, reply, says, sends, waits

CALL: dict[str, Any] = {
    "session_id": "s",
    "transcript_path": "/t",
    "cwd": "/",
    "permission_mode": "default",
    "hook_event_name": "PreToolUse",
    "tool_name": "Bash",
    "tool_input": {"command": "ls"},
    "tool_use_id": "u1",
}
NO_PROGRAM = "/nonexistent/castellan"
"""Never a daemon of this machine."""


def decision(verdict: str, event: str = "PreToolUse", **more: Any) -> str:
    output = {"hookEventName": event, "permissionDecision": verdict, "permissionDecisionReason": "r", **more}
    return json.dumps({"hookSpecificOutput": output})


def judged(home: Path, ask_person: AskPerson | None = None, second: Any = None, call: Any = None) -> tuple[str, str, Any]:
    """Asks the hook, then the permission callback with the input `second`: verdict, reason, and the callback's answer."""
    call = call or CALL

    async def both() -> tuple[str, str, Any]:
        guard = create_guard(home=home, castellan=NO_PROGRAM, ask_person=ask_person)
        hook = guard.hooks["PreToolUse"][0].hooks[0]
        output: Any = await hook(call, "u1", {"signal": None})
        context = ToolPermissionContext(tool_use_id="u1")
        answer = await guard.can_use_tool("Bash", second or call["tool_input"], context)
        said = output.get("hookSpecificOutput", {})
        return said.get("permissionDecision", "defer"), said.get("permissionDecisionReason", ""), answer

    return anyio.run(both)


class GuardTest(unittest.TestCase):
    def test_each_answer_is_passed_on_and_every_other_one_denies(self) -> None:
        rows: list[tuple[str, str, Play]] = [
            ("allow", "r", says(0, decision("allow"))),
            ("ask", "r", says(0, decision("ask"))),
            ("deny", "r", says(0, decision("deny"))),
            ("deny", "no", says(2, "", "no\n")),
            ("deny", "castellan gave no reason", says(2)),
            ("defer", "", says(0)),
            ("defer", "", says(0, '{"systemMessage":"a note"}')),
            ("allow", "r", sends(hold(60_000) + reply(0, decision("allow")))),
            ("deny", "understand", says(1, decision("allow"))),
            ("deny", "understand", says(0, decision("Allow"))),
            ("deny", "understand", says(0, decision("defer"))),
            ("deny", "understand", says(0, decision("allow", "PostToolUse"))),
            ("deny", "understand", says(0, decision("allow", updatedInput={"command": "rm"}))),
            ("deny", "understand", says(0, decision("allow") + "x")),
            ("deny", "understand", says(0, "[" * 100_000)),
            ("deny", "understand", says(0, "[]")),
            ("deny", "understand", says(0, "null")),
            ("deny", "understand", says(0, '{"permissionDecision":"allow"}')),
            ("deny", "understand", says(0, '{"hookSpecificOutput":null}')),
            ("deny", "understand", sends(b"HTTP/1.1 200 OK\r\n\r\n")),
            ("deny", "understand", sends(b"CSTL\x02\0\x02\0\0\0\0\0")),
            ("deny", "understand", sends(b"CSTL\x01\0\x02\0\xff\xff\xff\x7f")),
            ("deny", "understand", sends(b"CSTL\x01\0\x02\0\x0a\0\0\0\0\x01\0\0\0\xff\0\0\0\0")),
            ("deny", "broke off", sends(reply(0, decision("allow"))[:-1])),
            ("deny", "broke off", sends(b"")),
            ("deny", "broke off", sends(hold(60_000))),
            ("deny", "in time", waits(hold(20))),
        ]
        for number, (verdict, reason, play) in enumerate(rows):
            with self.subTest(number), daemon(play) as home:
                found = judged(home)
                self.assertEqual(found[0], verdict, found)
                self.assertIn(reason, found[1])

    def test_without_a_daemon_each_call_is_denied_and_the_gap_is_noted(self) -> None:
        with daemon(None) as home:
            self.assertIn("could not be started", judged(home)[1])
            gaps = (home / "run/gaps").read_text()
            self.assertRegex(gaps, rf"^1 \d+ claude PreToolUse {os.getpid()} not_started\n")
            (home / "run/stopped").touch()
            self.assertIn("castellan start", judged(home)[1])
            (home / "run").chmod(0o755)
            self.assertIn("not private", judged(home)[1])
        self.assertIn("not private", judged(Path("/nonexistent"))[1])

    def test_a_run_directory_that_is_a_symlink_is_not_private(self) -> None:
        with daemon(says(0, decision("allow"))) as home, daemon(None) as other:
            (other / "run").rmdir()
            (other / "run").symlink_to(home / "run")
            self.assertIn("not private", judged(other)[1])

    def test_a_daemon_that_does_not_answer_is_waited_for_no_longer_than_the_limit(self) -> None:
        async def ask(home: Path) -> None:
            await Daemon(Home(home), None).ask(Request("claude", "PreToolUse", 1, b"", b""), 0.05)

        with daemon(waits()) as home, self.assertRaises(Failure) as raised:
            anyio.run(ask, home)
        self.assertEqual(raised.exception.word, "deadline")

    def test_a_payload_that_is_too_long_or_no_json_is_denied(self) -> None:
        for command in ["x" * 8 * 1024 * 1024, float("nan"), object]:
            with daemon(says(0, decision("allow"))) as home:
                found = judged(home, call={**CALL, "tool_input": {"command": command}})
                self.assertEqual(found[0], "deny")

    def test_a_socket_with_a_long_path_is_reached(self) -> None:
        with daemon(says(0, decision("allow"))) as home:
            long = home / ("l" * 110)
            long.symlink_to(home)
            self.assertEqual(judged(long)[0], "allow")

    def test_only_a_person_allows_a_call_at_the_prompt_and_never_one_that_castellan_denies(self) -> None:
        decided = {"hookEventName": "PermissionRequest", "decision": {"behavior": "deny", "message": "late"}}
        late = json.dumps({"hookSpecificOutput": decided})
        allow_at_prompt = late.replace('"deny"', '"allow"')
        yes, no = PermissionResultAllow(), PermissionResultDeny(message="mine")
        same = PermissionResultAllow(updated_input={"command": "ls"})
        other = PermissionResultAllow(updated_input={"command": "rm"})
        nobody = object()
        rows: list[tuple[str, str, str, Any, str, str]] = [
            ("nobody is there", decision("ask"), "", nobody, "r", ""),
            ("nobody is there", "", "", nobody, "nobody can answer", ""),
            ("the agent objects", decision("allow"), "", nobody, "nobody can answer", ""),
            ("a yes to an ask", decision("ask"), "", yes, "allow", "ask"),
            ("a yes to a defer", "", "", yes, "allow", "defer"),
            ("a no", "", "", no, "mine", "defer"),
            ("a second look denies", decision("ask"), late, yes, "late", ""),
            ("the daemon never allows at the prompt", decision("ask"), allow_at_prompt, yes, "understand", ""),
            ("a denied call", decision("deny"), "", yes, "r", ""),
            ("the same input", "", "", same, "allow", "defer"),
            ("another input", "", "", other, "not judged", "defer"),
            ("no answer", "", "", None, "failed", "defer"),
            ("another answer", "", "", "allow", "failed", "defer"),
        ]
        for what, first, second, answer, expected, verdict in rows:
            asked: list[PersonQuestion] = []

            async def person(question: PersonQuestion, answer: Any = answer, asked: Any = asked) -> Any:
                asked.append(question)
                return answer

            def play(connection: Any, request: bytes, first: str = first, second: str = second) -> None:
                connection.sendall(reply(0, second if b"PermissionRequest" in request else first))

            with self.subTest(what), daemon(play) as home:
                found = judged(home, None if answer is nobody else person)[2]
                if isinstance(found, PermissionResultAllow):
                    self.assertEqual((expected, found.updated_input), ("allow", {"command": "ls"}))
                else:
                    self.assertIn(expected, found.message)
                self.assertEqual(",".join(one.verdict for one in asked), verdict)

    def test_a_call_whose_input_has_changed_is_judged_as_a_new_one(self) -> None:
        questions: list[bytes] = []

        def play(connection: Any, request: bytes) -> None:
            questions.append(request)
            connection.sendall(reply(0, decision("deny" if b'"rm"' in request else "ask")))

        async def person(_question: PersonQuestion) -> PermissionResultAllow:
            return PermissionResultAllow()

        with daemon(play) as home:
            self.assertIsInstance(judged(home, person, {"command": "rm"})[2], PermissionResultDeny)
        self.assertEqual([b"PreToolUse" in question for question in questions], [True, True])

    def test_the_permission_callback_alone_denies(self) -> None:
        async def alone(home: Path) -> Any:
            return await create_guard(home=home).can_use_tool("Bash", {}, ToolPermissionContext(tool_use_id="u2"))

        with daemon(says(0, decision("allow"))) as home:
            found = anyio.run(alone, home)
        self.assertIn("hook was not asked", found.message)

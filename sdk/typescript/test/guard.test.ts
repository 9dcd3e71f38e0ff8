import assert from 'node:assert/strict';
import { chmodSync, readFileSync, rmdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';

import type { CanUseTool, HookCallback, PermissionResult, PreToolUseHookInput } from '@anthropic-ai/claude-agent-sdk';

import { Daemon } from '../src/daemon.js';
import { Failure } from '../src/failure.js';
import { createGuard, type GuardOptions, type PersonQuestion } from '../src/guard.js';
import { Home } from '../src/home.js';
import { hold, reply, withDaemon, type Play } from './fake-daemon.js';

const CALL: PreToolUseHookInput = {
  session_id: 's', transcript_path: '/t', cwd: '/', permission_mode: 'default', hook_event_name: 'PreToolUse',
  tool_name: 'Bash', tool_input: { command: 'ls' }, tool_use_id: 'u1',
};
const SIGNAL = { signal: new AbortController().signal };

const decision = (verdict: string, event = 'PreToolUse', more = {}): string =>
  JSON.stringify({
    hookSpecificOutput: { hookEventName: event, permissionDecision: verdict, permissionDecisionReason: 'r', ...more },
  });
const says = (exit: number, stdout = '', stderr = ''): Play => (socket) => socket.end(reply(exit, stdout, stderr));
const sends = (bytes: Buffer | string): Play => (socket) => socket.end(Buffer.from(bytes as string, 'latin1'));

/** Never a daemon of this machine. */
const NO_PROGRAM = '/nonexistent/castellan';

/** Asks the hook, then the permission callback with `second` as the call's input. */
async function judged(
  home: string,
  options: GuardOptions = {},
  second: Record<string, unknown> | undefined = CALL.tool_input as Record<string, unknown>,
): Promise<{ hook: string; reason: string; permission: PermissionResult }> {
  const guard = createGuard({ home, castellan: NO_PROGRAM, ...options });
  const hook = guard.hooks.PreToolUse?.[0]?.hooks[0] as HookCallback;
  const output = (await hook(CALL, 'u1', SIGNAL)) as { hookSpecificOutput?: Record<string, string> };
  const permission = await callback(guard.canUseTool, second);
  return {
    hook: output.hookSpecificOutput?.['permissionDecision'] ?? 'defer',
    reason: output.hookSpecificOutput?.['permissionDecisionReason'] ?? '',
    permission: permission as PermissionResult,
  };
}

const callback = (canUseTool: CanUseTool, input: Record<string, unknown>, toolUseID = 'u1'): ReturnType<CanUseTool> =>
  canUseTool('Bash', input, { ...SIGNAL, toolUseID } as Parameters<CanUseTool>[2]);

test('each answer of the daemon is passed on, and every other one denies', async () => {
  const rows: [string, string, Play][] = [
    ['allow', 'r', says(0, decision('allow'))],
    ['ask', 'r', says(0, decision('ask'))],
    ['deny', 'r', says(0, decision('deny'))],
    ['deny', 'no', says(2, '', 'no\n')],
    ['deny', 'castellan gave no reason', says(2)],
    ['defer', '', says(0)],
    ['defer', '', says(0, '{"systemMessage":"a note"}')],
    ['allow', 'r', (socket) => { socket.write(hold(60_000)); socket.end(reply(0, decision('allow'))); }],
    ['deny', 'understand', says(1, decision('allow'))],
    ['deny', 'understand', says(0, decision('Allow'))],
    ['deny', 'understand', says(0, decision('defer'))],
    ['deny', 'understand', says(0, decision('allow', 'PostToolUse'))],
    ['deny', 'understand', says(0, decision('allow', 'PreToolUse', { updatedInput: { command: 'rm' } }))],
    ['deny', 'understand', says(0, `${decision('allow')}x`)],
    ['deny', 'understand', says(0, '[]')],
    ['deny', 'understand', says(0, 'null')],
    ['deny', 'understand', says(0, '{"permissionDecision":"allow"}')],
    ['deny', 'understand', sends('CSTL\x01\0\x02\0\x0a\0\0\0\0\x01\0\0\0\xff\0\0\0\0')],
    ['deny', 'understand', sends('HTTP/1.1 200 OK\r\n\r\n')],
    ['deny', 'understand', sends('CSTL\x02\0\x02\0\0\0\0\0')],
    ['deny', 'understand', sends('CSTL\x01\0\x02\0\xff\xff\xff\x7f')],
    ['deny', 'broke off', sends(reply(0, decision('allow')).subarray(0, -1))],
    ['deny', 'broke off', (socket) => socket.destroy()],
    ['deny', 'broke off', (socket) => socket.end(hold(60_000))],
    ['deny', 'in time', (socket) => socket.write(hold(20))],
  ];
  for (const [verdict, reason, play] of rows) {
    const { hook, reason: found } = await withDaemon(play, (home) => judged(home));
    assert.equal(hook, verdict, `${play}: ${found}`);
    assert.ok(found.includes(reason), `${play}: ${found}`);
  }
});

test('without a daemon each call is denied, and the gap is noted', async () => {
  await withDaemon(undefined, async (home) => {
    assert.match((await judged(home)).reason, /could not be started/);
    assert.match(readFileSync(join(home, 'run/gaps'), 'utf8'), /^1 \d+ claude PreToolUse \d+ not_started\n/);
    writeFileSync(join(home, 'run/stopped'), '');
    assert.match((await judged(home)).reason, /castellan start/);
    chmodSync(join(home, 'run'), 0o755);
    assert.match((await judged(home)).reason, /not private/);
  });
  assert.match((await judged('/nonexistent')).reason, /not private/);
});

test('a run directory that is a symlink is not private', async () => {
  await withDaemon(says(0, decision('allow')), async (home) => {
    await withDaemon(undefined, async (other) => {
      rmdirSync(join(other, 'run'));
      symlinkSync(join(home, 'run'), join(other, 'run'));
      assert.match((await judged(other)).reason, /not private/);
    });
  });
});

test('a daemon that does not answer is waited for no longer than the limit', async () => {
  const request = { agent: 'claude', event: 'PreToolUse', parentPid: 1, cwd: Buffer.alloc(0), payload: Buffer.alloc(0) };
  const ask = (ms: number, signal?: AbortSignal) =>
    withDaemon(() => undefined, (home) => new Daemon(new Home(home), undefined).ask(request, ms, signal));
  const is = (word: string) => (error: unknown) => error instanceof Failure && error.word === word;
  await assert.rejects(ask(50), is('deadline'));
  await assert.rejects(ask(60_000, AbortSignal.abort()), is('aborted'));
  const later = new AbortController();
  setTimeout(() => later.abort(), 20);
  await assert.rejects(ask(60_000, later.signal), is('aborted'));
});

test('a payload that is too long, or that is no JSON, is denied', async () => {
  for (const command of ['x'.repeat(8 * 1024 * 1024), 1n]) {
    await withDaemon(says(0, decision('allow')), async (home) => {
      const hook = createGuard({ home }).hooks.PreToolUse?.[0]?.hooks[0] as HookCallback;
      const output = await hook({ ...CALL, tool_input: { command } }, 'u1', SIGNAL);
      assert.match(JSON.stringify(output), /"permissionDecision":"deny"/);
    });
  }
});

test('a socket with a long path is reached', async () => {
  await withDaemon(says(0, decision('allow')), async (home) => {
    const long = join(home, 'l'.repeat(110));
    symlinkSync(home, long);
    assert.equal((await judged(long)).hook, 'allow');
  });
});

/** A daemon that answers the two questions about a call. */
const twice = (first: string, second: string): Play => (socket, request) =>
  socket.end(reply(0, request.includes('PermissionRequest') ? second : first));
const DENY_AT_PROMPT = JSON.stringify({
  hookSpecificOutput: { hookEventName: 'PermissionRequest', decision: { behavior: 'deny', message: 'late' } },
});
const ALLOW_AT_PROMPT = DENY_AT_PROMPT.replace('"deny"', '"allow"');

test('only a person allows a call at the prompt, and never one that castellan denies', async () => {
  const asked: PersonQuestion[] = [];
  const person = (answer: unknown) => async (question: PersonQuestion) => {
    asked.push(question);
    return answer as PermissionResult;
  };
  const yes = { behavior: 'allow' };
  const input = { command: 'ls' };
  const rows: [string, Play, unknown, 'allow' | 'deny', string, string][] = [
    ['nobody is there', twice(decision('ask'), ''), undefined, 'deny', 'r', ''],
    ['nobody is there', twice('', ''), undefined, 'deny', 'nobody can answer', ''],
    ['the agent objects', twice(decision('allow'), ''), undefined, 'deny', 'nobody can answer', ''],
    ['a yes to an ask', twice(decision('ask'), ''), yes, 'allow', '', 'ask'],
    ['a yes to a defer', twice('', ''), yes, 'allow', '', 'defer'],
    ['a no', twice('', ''), { behavior: 'deny', message: 'mine' }, 'deny', 'mine', 'defer'],
    ['a second look denies', twice(decision('ask'), DENY_AT_PROMPT), yes, 'deny', 'late', ''],
    ['the daemon never allows at the prompt', twice(decision('ask'), ALLOW_AT_PROMPT), yes, 'deny', 'understand', ''],
    ['a denied call', twice(decision('deny'), ''), yes, 'deny', 'r', ''],
    ['the same input', twice('', ''), { ...yes, updatedInput: input }, 'allow', '', 'defer'],
    ['another input', twice('', ''), { ...yes, updatedInput: { command: 'rm' } }, 'deny', 'not judged', 'defer'],
    ['no answer', twice('', ''), null, 'deny', 'failed', 'defer'],
    ['another answer', twice('', ''), { behavior: 'Allow' }, 'deny', 'failed', 'defer'],
  ];
  for (const [what, play, answer, behavior, message, verdict] of rows) {
    asked.length = 0;
    const options = answer === undefined ? {} : { askPerson: person(answer) };
    const { permission } = await withDaemon(play, (home) => judged(home, options));
    assert.equal(permission.behavior, behavior, what);
    assert.ok(permission.behavior === 'allow' || permission.message.includes(message), `${what}: ${JSON.stringify(permission)}`);
    assert.equal(asked.map((one) => one.verdict).join(), verdict, what);
  }
});

test('a call whose input has changed is judged as a new one', async () => {
  const questions: string[] = [];
  const play: Play = (socket, request) => {
    questions.push(request.toString());
    socket.end(reply(0, request.includes('"rm"') ? decision('deny') : decision('ask')));
  };
  const yes = async (): Promise<PermissionResult> => ({ behavior: 'allow' });
  const { permission } = await withDaemon(play, (home) => judged(home, { askPerson: yes }, { command: 'rm' }));
  assert.equal(permission.behavior, 'deny');
  assert.ok(questions.every((question) => question.includes('PreToolUse')) && questions.length === 2);
});

test('the permission callback alone denies: the hook was not asked', async () => {
  await withDaemon(says(0, decision('allow')), async (home) => {
    const { canUseTool } = createGuard({ home });
    const answer = await callback(canUseTool, { command: 'ls' }, 'another');
    assert.match(JSON.stringify(answer), /"deny".*hook was not asked/);
  });
});

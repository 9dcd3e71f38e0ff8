import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, statSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import type { CanUseTool, HookCallback, SDKMessage } from '@anthropic-ai/claude-agent-sdk';

import { audited, type Attempt } from '../src/audit.js';
import { hardenedOptions, type HardenedInput } from '../src/lockdown.js';

const fresh = (): string => mkdtempSync(join(tmpdir(), 'castellan-test-'));
const build = (more: object = {}) =>
  hardenedOptions({ source: 'observer', audit: () => undefined, directory: fresh(), ...more } as HardenedInput);

test('an option that could loosen the lockdown is an error that names it', () => {
  const loosening = {
    tools: ['Bash'], allowedTools: [], disallowedTools: [], permissionMode: 'bypassPermissions', canUseTool: undefined,
    hooks: {}, settingSources: ['user'], settings: {}, mcpServers: {}, strictMcpConfig: false, plugins: [], skills: 'all',
    additionalDirectories: ['/'], cwd: '/', agents: {}, agent: 'x', extraArgs: {}, executableArgs: [], resume: 'x',
    continue: true, sandbox: {}, managedSettings: {}, verbatimPrompts: false, permissionPromptToolName: 'x',
    permissionPrompts: 'none', allowDangerouslySkipPermissions: true, toolAliases: {}, outputFormat: {}, unknown: 1,
  };
  for (const [name, value] of Object.entries(loosening)) {
    assert.throws(() => build({ [name]: value }), new RegExp(`\`${name}\` could loosen the lockdown`));
  }
  for (const wrong of [{ source: '' }, { audit: undefined }]) {
    assert.throws(() => build(wrong), /must be a name/);
  }
});

test('what loosens nothing is passed on', () => {
  const { model, maxTurns, systemPrompt } = build({ model: 'm', maxTurns: 3, systemPrompt: 's' });
  assert.deepEqual({ model, maxTurns, systemPrompt }, { model: 'm', maxTurns: 3, systemPrompt: 's' });
});

test('two sources have the same lockdown', () => {
  const shape = (source: string) => {
    const { cwd: _, env: __, ...rest } = build({ source });
    return JSON.stringify(rest);
  };
  assert.equal(shape('observer'), shape('knowledge'));
});

test('the environment is an allow-list', () => {
  process.env['GITHUB_TOKEN'] = process.env['ANTHROPIC_API_KEY'] = process.env['CLAUDE_CODE_X'] = 'secret';
  process.env['NODE_OPTIONS_X'] = 'x';
  const { env, cwd } = build({ env: { ANTHROPIC_AUTH_TOKEN: 'mine' } });
  assert.ok(!JSON.stringify(env).includes('secret'));
  assert.equal(env?.['ANTHROPIC_AUTH_TOKEN'], 'mine');
  assert.equal(env?.['PATH'], process.env['PATH']);
  assert.equal(env?.['HOME'], join(cwd as string, '../home'));
  for (const name of ['NODE_OPTIONS', 'LD_PRELOAD', 'HOME', 'CLAUDE_CONFIG_DIR', 'CLAUDE_CODE_SIMPLE', 'PATH', '__proto__x']) {
    assert.throws(() => build({ env: { [name]: 'x' } }), new RegExp(name));
  }
  assert.throws(() => build({ env: { ANTHROPIC_BASE_URL: 'x', CLAUDE_CODE_OAUTH_TOKEN: 'x' } }), /login token/);
});

test('the directories are private, or an error', () => {
  const directory = join(fresh(), 'new/deep');
  const { cwd } = build({ directory });
  assert.equal(cwd, join(directory, 'work'));
  for (const place of [directory, join(directory, 'work'), join(directory, 'home')]) {
    assert.equal(statSync(place).mode & 0o777, 0o700, place);
  }
  const open = fresh();
  chmodSync(open, 0o755);
  const link = join(fresh(), 'link');
  symlinkSync(fresh(), link);
  const openWork = fresh();
  mkdirSync(join(openWork, 'work'), { mode: 0o755 });
  for (const wrong of [open, link, openWork]) {
    assert.throws(() => build({ directory: wrong }), /0700/, wrong);
  }
  assert.throws(() => build({ directory: 'relative' }), /absolute/);
});

const ROWS: [unknown, string][] = [
  [{ command: 'ls' }, '{"command":"ls"}'],
  ['x'.repeat(4096), 'x'.repeat(4096)],
  ['x'.repeat(4097), `${'x'.repeat(4096)}…[TRUNCATED]`],
  [undefined, '[UNSERIALIZABLE]'],
  [{ n: 1n }, '[UNSERIALIZABLE]'],
];

test('hook and callback deny every name, after they have recorded it', async () => {
  for (const [input, text] of ROWS) {
    const seen: Attempt[] = [];
    const options = build({ audit: (attempt: Attempt) => seen.push(attempt) });
    const hook = options.hooks?.PreToolUse?.[0]?.hooks[0] as HookCallback;
    const call = { hook_event_name: 'PreToolUse', tool_name: 'OfTheFuture', tool_input: input, tool_use_id: 'u' };
    const signal = new AbortController().signal;
    const output = await hook(call as Parameters<HookCallback>[0], 'u', { signal });
    assert.match(JSON.stringify(output), /"deny".*observer is forbidden/);
    const context = { signal, toolUseID: 'u' } as Parameters<CanUseTool>[2];
    const answer = await options.canUseTool?.('OfTheFuture', input as Record<string, unknown>, context);
    assert.match(JSON.stringify(answer), /"deny".*observer is forbidden/);
    assert.deepEqual(seen.map((one) => one.seenBy), ['hook', 'permission']);
    assert.ok(seen.every((one) => one.input === text && one.toolName === 'OfTheFuture' && one.source === 'observer'));
  }
});

test('an audit that fails allows nothing', async () => {
  const options = build({ audit: () => { throw new Error('disk full'); } });
  const context = { signal: new AbortController().signal, toolUseID: 'u' } as Parameters<CanUseTool>[2];
  assert.equal((await options.canUseTool?.('Bash', {}, context))?.behavior, 'deny');
});

test('tool calls in messages are recorded, and all messages passed on', async () => {
  const seen: Attempt[] = [];
  const messages = [
    { type: 'system' },
    { type: 'assistant', message: { content: [{ type: 'text' }, { type: 'tool_use', id: 'u', name: 'Bash', input: {} }] } },
    { type: 'assistant', message: { content: 'text' } },
    { type: 'assistant' },
  ] as unknown as SDKMessage[];
  async function* stream() {
    yield* messages;
  }
  const passed = [];
  for await (const message of audited(stream(), { source: 's', audit: (attempt) => void seen.push(attempt) })) {
    passed.push(message);
  }
  assert.deepEqual(passed, messages);
  assert.deepEqual(seen.map(({ ts: _, ...one }) => one), [
    { source: 's', seenBy: 'message', toolName: 'Bash', toolUseId: 'u', input: '{}' },
  ]);
});

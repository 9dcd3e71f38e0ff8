// Runs one query of the real Claude Agent SDK for `tests/tests/lockdown/sdk`. Its argument is a JSON description, which
// `castellan_tests::sdk::Query` writes. It prints each event as a line of JSON. The same program in Python: `drive.py`.

import { query } from '@anthropic-ai/claude-agent-sdk';
import { audited, createGuard, hardenedOptions } from './dist/src/index.js';

const spec = JSON.parse(process.argv[2]);
const say = (event) => console.log(JSON.stringify(event));
const audit = ({ seenBy, toolName }) => say({ attempt: `${seenBy} ${toolName}` });

/** How each layer is taken out of the options. */
const WITHOUT = {
  tools: (options) => delete options.tools,
  deny_list: (options) => delete options.disallowedTools,
  mode: (options) => delete options.permissionMode,
  callback: (options) => delete options.canUseTool,
  callback_yes: (options) => (options.canUseTool = async (_name, updatedInput) => ({ behavior: 'allow', updatedInput })),
  hook: (options) => delete options.hooks,
  settings: (options) => delete options.settings,
  sources: (options) => delete options.settingSources,
  mcp: (options) => delete options.strictMcpConfig,
  verbatim: (options) => delete options.verbatimPrompts,
};

function locked() {
  const options = hardenedOptions({ source: 'observer', audit, directory: spec.directory, env: spec.env });
  spec.without.forEach((layer) => WITHOUT[layer](options));
  return { ...options, env: { ...options.env, ...spec.more_env } };
}

function guarded() {
  const askPerson = spec.person && (async ({ verdict }) => {
    say({ person: verdict });
    return spec.person === 'yes' ? { behavior: 'allow' } : { behavior: 'deny', message: 'the person refuses' };
  });
  const guard = createGuard({ home: spec.home, castellan: spec.castellan, ...(askPerson ? { askPerson } : {}) });
  const { mode: permissionMode } = spec;
  const env = { PATH: process.env.PATH, ...spec.env, ...spec.more_env };
  return { cwd: spec.cwd, env, permissionMode, allowDangerouslySkipPermissions: true, ...guard };
}

const messages = query({ prompt: spec.prompt, options: spec.directory ? locked() : guarded() });
for await (const message of spec.directory ? audited(messages, { source: 'observer', audit }) : messages) {
  if (message.type === 'result') {
    say({ result: message.subtype });
  }
}

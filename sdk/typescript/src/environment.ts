/** The environment and the private directories of a locked-down agent. It must not know tools. */

import { lstatSync, mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { isAbsolute, join } from 'node:path';

/** Variables that the agent gets from this program. None of them holds a secret or names a file with settings. */
const INHERITED = [
  'PATH', 'USER', 'LOGNAME', 'LANG', 'LC_ALL', 'LC_CTYPE', 'TZ', 'TERM', 'TMPDIR',
  'HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'NO_PROXY', 'http_proxy', 'https_proxy', 'all_proxy', 'no_proxy',
  'NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'SSL_CERT_DIR',
];

/** Variables that a caller may set: the model's address and credentials, and switches that only take something away. */
const GIVEN = [
  'ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN', 'ANTHROPIC_BASE_URL', 'CLAUDE_CODE_OAUTH_TOKEN',
  'CLAUDE_CODE_USE_BEDROCK', 'CLAUDE_CODE_USE_VERTEX', 'CLAUDE_CODE_USE_FOUNDRY',
  'ANTHROPIC_BEDROCK_BASE_URL', 'ANTHROPIC_VERTEX_BASE_URL', 'ANTHROPIC_VERTEX_PROJECT_ID',
  'ANTHROPIC_FOUNDRY_API_KEY', 'ANTHROPIC_FOUNDRY_BASE_URL', 'ANTHROPIC_FOUNDRY_RESOURCE', 'CLOUD_ML_REGION',
  'AWS_REGION', 'AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN', 'AWS_BEARER_TOKEN_BEDROCK',
  'CLAUDE_AGENT_SDK_CLIENT_APP', 'CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC', 'DISABLE_AUTOUPDATER',
  'DISABLE_TELEMETRY', 'DISABLE_ERROR_REPORTING',
];

/** Directories of a locked-down agent, all with mode 0700. */
export interface Private {
  /** The working directory. */
  work: string;
  /** The agent's home, which holds no settings of the user. */
  home: string;
}

/** Makes the directories below `directory`, or below a new temporary one. Throws if `directory` is not private. */
export function makePrivate(directory: string | undefined): Private {
  const root = directory ?? mkdtempSync(join(tmpdir(), 'castellan-locked-'));
  if (!isAbsolute(root)) {
    throw new TypeError(`hardenedOptions: \`directory\` must be an absolute path, not \`${root}\``);
  }
  const places = { work: join(root, 'work'), home: join(root, 'home') };
  mkdirSync(root, { recursive: true, mode: 0o700 });
  checkPrivate(root);
  for (const place of Object.values(places)) {
    mkdirSync(place, { recursive: true, mode: 0o700 });
    checkPrivate(place);
  }
  return places;
}

/** Throws unless this user alone can use the directory. A symlink is no directory here. */
function checkPrivate(place: string): void {
  const found = lstatSync(place);
  if (!found.isDirectory() || found.uid !== process.geteuid?.() || (found.mode & 0o077) !== 0) {
    throw new Error(`hardenedOptions: \`${place}\` is no directory of this user alone: give it the mode 0700`);
  }
}

/** Returns the whole environment of the agent. Throws if `given` has a variable that could loosen the lockdown. */
export function environment(home: string, given: Record<string, string>): Record<string, string> {
  for (const name of Object.keys(given)) {
    if (!GIVEN.includes(name)) {
      throw new Error(`hardenedOptions: the variable \`${name}\` is not one of those that a locked-down agent may have`);
    }
  }
  if (given['ANTHROPIC_BASE_URL'] !== undefined && given['CLAUDE_CODE_OAUTH_TOKEN'] !== undefined) {
    throw new Error('hardenedOptions: a login token of the user is not sent to another address: give `ANTHROPIC_API_KEY`');
  }
  const inherited = INHERITED.flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value]];
  });
  return { ...Object.fromEntries(inherited), ...given, HOME: home, CLAUDE_CONFIG_DIR: join(home, '.claude') };
}

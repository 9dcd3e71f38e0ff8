/** Starts the daemon as castellan's hook does: in `/`, in a session of its own, without this program's environment. */

import { spawn } from 'node:child_process';
import { statSync } from 'node:fs';
import { userInfo } from 'node:os';
import { isAbsolute, join } from 'node:path';

/** Exit code of `castellan daemon` when another daemon serves the home. */
export const DAEMON_ALREADY_RUNS = 5;

/** The whole environment of a started daemon, as `crates/wire/src/home.rs` has it. */
const DAEMON_ENVIRONMENT = { MALLOC_ARENA_MAX: '2', MALLOC_MMAP_THRESHOLD_: '131072' };

/** Returns `named`, or the `castellan` at one of the two places of an installation; `undefined` if there is none. */
export function findProgram(named?: string): string | undefined {
  if (named !== undefined && !isAbsolute(named)) {
    throw new TypeError(`the program castellan must be an absolute path, not \`${named}\``);
  }
  const places = named === undefined ? [join(userInfo().homedir, '.local/bin/castellan'), '/usr/local/bin/castellan'] : [named];
  return places.find((place) => statSync(place, { throwIfNoEntry: false })?.isFile());
}

/** A started daemon. */
export interface Started {
  /** The exit code, once it has ended; -1 after a signal or if it could not be started. */
  exit: number | undefined;
}

/** Starts the daemon of the home `dir`. */
export function startDaemon(program: string, dir: string): Started {
  const started: Started = { exit: undefined };
  const child = spawn(program, ['daemon', '--home', dir], {
    cwd: '/',
    detached: true,
    env: DAEMON_ENVIRONMENT,
    stdio: 'ignore',
  });
  child.on('error', () => (started.exit = -1));
  child.on('exit', (code) => (started.exit = code ?? -1));
  child.unref();
  return started;
}

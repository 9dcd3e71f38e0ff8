/**
 * A home of castellan, as `crates/wire/src/home.rs` lays it out. Nothing here is read from the environment, because a
 * repository's `.env` could set it.
 */

import { closeSync, constants, existsSync, fstatSync, lstatSync, openSync, writeSync } from 'node:fs';
import { userInfo } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';

import { Failure } from './failure.js';
import { GAPS_BYTES_MAX, SOCKET_PATH_BYTES_MAX } from './limits.js';

/** The files of a home that this package uses. */
export class Home {
  readonly dir: string;
  readonly #run: string;

  /** `dir` is an absolute directory. Without it: `.local/share/castellan` in the user's directory of the user list. */
  constructor(dir?: string) {
    this.dir = dir ?? join(userInfo().homedir, '.local/share/castellan');
    if (!isAbsolute(this.dir)) {
      throw new TypeError(`the home of castellan must be an absolute path, not \`${this.dir}\``);
    }
    this.#run = join(this.dir, 'run');
  }

  /** The daemon's socket for hooks. */
  get socket(): string {
    return join(this.#run, 'hook.sock');
  }

  /** Reports whether a person stopped castellan on purpose. */
  get isStopped(): boolean {
    return existsSync(join(this.#run, 'stopped'));
  }

  /** Throws a `Failure` unless `run` belongs to this user alone: another user could answer in the daemon's place. */
  checkPrivate(): void {
    const run = lstatSync(this.#run, { throwIfNoEntry: false });
    const isPrivate =
      run !== undefined && run.isDirectory() && run.uid === process.geteuid?.() && (run.mode & 0o077) === 0;
    if (!isPrivate) {
      throw new Failure('home');
    }
  }

  /** Calls `use` with a path to the socket that a socket address can hold. */
  withSocketPath<T>(use: (path: string) => T): T {
    if (Buffer.byteLength(this.socket) <= SOCKET_PATH_BYTES_MAX) {
      return use(this.socket);
    }
    const dir = openSync(dirname(this.socket), constants.O_RDONLY | constants.O_DIRECTORY);
    try {
      return use(`/proc/self/fd/${dir}/hook.sock`);
    } finally {
      closeSync(dir);
    }
  }

  /** Leaves a line for the next daemon about an event that was answered without one. Ignores failures. */
  noteGap(agent: string, event: string, failure: Failure): void {
    try {
      const { O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK, O_WRONLY } = constants;
      const file = openSync(join(this.#run, 'gaps'), O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o600);
      try {
        const found = fstatSync(file);
        if (found.isFile() && found.size <= GAPS_BYTES_MAX) {
          writeSync(file, `1 ${Date.now()} ${agent} ${event} ${process.pid} ${failure.word}\n`);
        }
      } finally {
        closeSync(file);
      }
    } catch {
      // The call is denied already; a missing note loosens nothing.
    }
  }
}

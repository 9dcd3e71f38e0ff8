/** One question to the daemon: connects, starts the daemon if none listens, sends a frame and waits for the reply. */

import { connect as connectSocket, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

import { Failure, asFailure } from './failure.js';
import { FrameReader, encodeRequest, type Request } from './frame.js';
import type { Home } from './home.js';
import { HELD_MS, HOLD_MS_MAX, PAYLOAD_BYTES_MAX, RESTART_MS, START_MS, TRY_AGAIN_MS } from './limits.js';
import { DAEMON_ALREADY_RUNS, startDaemon } from './start.js';

/** The output and exit code that the daemon gives a hook. */
export interface Reply {
  exit: number;
  stdout: string;
  stderr: string;
}

/** The daemon of a home. */
export class Daemon {
  readonly home: Home;
  readonly #program: string | undefined;
  #starting: Promise<void> | undefined;

  /** `program` starts the daemon; without it this program never starts one. */
  constructor(home: Home, program: string | undefined) {
    this.home = home;
    this.#program = program;
  }

  /** Asks about an event. Throws a `Failure` if there is no valid reply after `ms` milliseconds. */
  async ask(request: Request, ms: number, signal?: AbortSignal): Promise<Reply> {
    if (request.payload.length > PAYLOAD_BYTES_MAX) {
      throw new Failure('input');
    }
    const until = Date.now() + ms;
    const socket = await this.#connect(until, signal);
    try {
      return await exchange(socket, request, until, signal);
    } finally {
      socket.destroy();
    }
  }

  async #connect(until: number, signal?: AbortSignal): Promise<Socket> {
    this.home.checkPrivate();
    const first = await this.#tryConnect(until, signal);
    if (first !== undefined) {
      return first;
    }
    if (this.home.isStopped) {
      throw new Failure('stopped');
    }
    this.#starting ??= this.#start().finally(() => (this.#starting = undefined));
    await limited(this.#starting, until, signal);
    const started = await this.#tryConnect(until, signal);
    if (started === undefined) {
      throw new Failure('not_started');
    }
    return started;
  }

  /** Starts a daemon and waits until it listens. All calls of this program share one start. */
  async #start(): Promise<void> {
    const program = this.#program;
    if (program === undefined) {
      throw new Failure('not_started');
    }
    const until = Date.now() + START_MS;
    let daemon = startDaemon(program, this.home.dir);
    let startedAt = Date.now();
    let heldSince: number | undefined;
    while (Date.now() < until) {
      await pause(TRY_AGAIN_MS);
      const socket = await this.#tryConnect(until);
      if (socket !== undefined) {
        socket.destroy();
        return;
      }
      if (daemon.exit !== undefined && daemon.exit !== DAEMON_ALREADY_RUNS) {
        throw new Failure('not_started');
      }
      if (daemon.exit === DAEMON_ALREADY_RUNS) {
        // Another daemon holds the home: it will listen in a moment, or it is ending.
        heldSince ??= Date.now();
        if (Date.now() - heldSince > HELD_MS) {
          throw new Failure('unreachable');
        }
        if (Date.now() - startedAt > RESTART_MS) {
          daemon = startDaemon(program, this.home.dir);
          startedAt = Date.now();
        }
      }
    }
    throw new Failure('not_started');
  }

  /** Connects, or returns `undefined` if nobody listens. Waits while the daemon's queue is full. */
  async #tryConnect(until: number, signal?: AbortSignal): Promise<Socket | undefined> {
    for (;;) {
      const socket = this.home.withSocketPath((path) => connectSocket(path));
      const error = new Promise<string | undefined>((resolve) => {
        socket.once('connect', () => resolve(undefined));
        socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? 'unknown'));
      });
      try {
        const code = await limited(error, until, signal);
        if (code === undefined) {
          return socket;
        }
        if (code !== 'EAGAIN') {
          return undefined;
        }
        await limited(pause(TRY_AGAIN_MS), until, signal);
      } catch (failure) {
        socket.destroy();
        throw failure;
      }
    }
  }
}

/** Sends a request and reads until the reply. A *hold* moves the end of the wait. */
async function exchange(socket: Socket, request: Request, until: number, signal?: AbortSignal): Promise<Reply> {
  const started = Date.now();
  return new Promise<Reply>((resolve, reject) => {
    const fail = (word: 'deadline' | 'disconnected' | 'aborted') => () => reject(new Failure(word));
    const aborted = fail('aborted');
    const wait = (ms: number): NodeJS.Timeout => setTimeout(fail('deadline'), Math.max(ms, 0));
    let timer = wait(until - started);
    const reader = new FrameReader();
    socket.on('data', (piece: Buffer) => {
      try {
        for (const frame of reader.push(piece)) {
          if (frame.kind === 'reply') {
            return resolve({ exit: frame.exit, stdout: frame.stdout.toString(), stderr: frame.stderr.toString() });
          }
          clearTimeout(timer);
          timer = wait(Math.min(frame.ms, started + HOLD_MS_MAX - Date.now()));
        }
      } catch {
        reject(new Failure('protocol'));
      }
    });
    // A daemon that rejects early closes its end; its reply is read first.
    socket.on('error', fail('disconnected'));
    socket.on('close', fail('disconnected'));
    socket.on('end', fail('disconnected'));
    if (signal?.aborted) {
      aborted();
    }
    signal?.addEventListener('abort', aborted, { once: true });
    socket.write(encodeRequest(request));
    socket.once('close', () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', aborted);
    });
  });
}

/** Waits for `work` until a time or the signal. Throws a `Failure` then. */
async function limited<T>(work: Promise<T>, until: number, signal?: AbortSignal): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  let abort = (): void => undefined;
  const ended = new Promise<never>((_, reject) => {
    abort = () => reject(new Failure('aborted'));
    timer = setTimeout(() => reject(new Failure('deadline')), Math.max(until - Date.now(), 0));
    if (signal?.aborted) {
      abort();
    }
    signal?.addEventListener('abort', abort, { once: true });
  });
  try {
    return await Promise.race([work, ended]);
  } catch (thrown) {
    throw asFailure(thrown);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
  }
}

/** A scripted daemon, and the shared frames. */

import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** `sdk/frames.json`: the Rust tests compare it with the real protocol. */
export const FRAMES = JSON.parse(readFileSync(framesFile(), 'utf8')) as {
  request: { agent: string; event: string; parent_pid: number; cwd: string; payload: string; hex: string };
  replies: { exit: number; stdout: string; stderr: string; hex: string }[];
  holds: { ms: number; hex: string }[];
  malformed: { what: string; hex: string }[];
};

/** Looks upwards, because tests also run from a copy of the package. */
function framesFile(): string {
  const named = process.env['CASTELLAN_FRAMES'];
  return named ?? join(dirname(fileURLToPath(import.meta.url)), '../../../frames.json');
}

/** Returns the frame of a reply. */
export function reply(exit: number, stdout = '', stderr = ''): Buffer {
  const field = (text: string): Buffer => {
    const length = Buffer.alloc(4);
    length.writeUInt32LE(Buffer.byteLength(text));
    return Buffer.concat([length, Buffer.from(text)]);
  };
  return frame(2, Buffer.concat([Buffer.from([exit]), field(stdout), field(stderr)]));
}

/** Returns the frame of a hold. */
export function hold(ms: number): Buffer {
  const body = Buffer.alloc(4);
  body.writeUInt32LE(ms);
  return frame(3, body);
}

function frame(kind: number, body: Buffer): Buffer {
  const header = Buffer.from('CSTL\x01\0\0\0\0\0\0\0', 'latin1');
  header.writeUInt16LE(kind, 6);
  header.writeUInt32LE(body.length, 8);
  return Buffer.concat([header, body]);
}

/** The daemon's part of a connection, once it has read the first bytes of a request. */
export type Play = (socket: Socket, request: Buffer) => void;

/** Runs `use` with the home of a daemon that does `play`; without `play` nobody listens. */
export async function withDaemon<T>(play: Play | undefined, use: (home: string) => Promise<T>): Promise<T> {
  const home = mkdtempSync(join(tmpdir(), 'castellan-test-'));
  mkdirSync(join(home, 'run'), { mode: 0o700 });
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket);
    socket.on('error', () => undefined);
    socket.once('data', (request: Buffer) => play?.(socket, request));
  });
  if (play !== undefined) {
    await new Promise<void>((resolve) => server.listen(join(home, 'run/hook.sock'), resolve));
  }
  try {
    return await use(home);
  } finally {
    open.forEach((socket) => socket.destroy());
    server.close();
    rmSync(home, { recursive: true });
  }
}

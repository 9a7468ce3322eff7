import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';

import { BookHeldError } from './database.js';

/** The process that holds a folder. `startedAt`: the time since the machine's start, which tells a reused pid. */
interface Holder {
  pid: number;
  host: string;
  startedAt: string;
}

/**
 * Takes the lock of a folder for this process, with a file that holds its pid; the lock of a process that has ended is
 * taken over. Returns the function that gives it back.
 * @throws BookHeldError when a running process, or one on another machine, has it
 */
export function lockFolder(folder: string): () => void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const file = join(folder, 'bookkeeper.lock');
  const own = join(folder, `bookkeeper.lock.${process.pid}`);
  const holder: Holder = { pid: process.pid, host: hostname(), startedAt: readStart(process.pid) ?? '' };
  writeFileSync(own, JSON.stringify(holder));
  try {
    // A link is made with its content, or not at all.
    while (!tryLink(own, file)) removeStale(file, own);
  } finally {
    rmSync(own, { force: true });
  }
  return () => {
    if (readHolder(file)?.pid === process.pid) rmSync(file, { force: true });
  };
}

function tryLink(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/** @throws BookHeldError when the holder may still run */
function removeStale(file: string, own: string): void {
  const holder = readHolder(file);
  if (holder !== null && holder.host !== hostname()) {
    throw new BookHeldError(
      `The folder of the book is in use by process ${holder.pid} on ${holder.host}. If that machine is gone, remove ${file}.`,
    );
  }
  if (holder !== null && isAlive(holder)) {
    throw new BookHeldError(`The folder of the book is in use by process ${holder.pid}.`);
  }
  // Two processes may find the same stale lock: what is moved away may be the other's new one.
  const moved = `${own}.stale`;
  try {
    renameSync(file, moved);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw error;
  }
  const found = readHolder(moved);
  const isOthers = found !== null && isAlive(found);
  if (isOthers) tryLink(moved, file);
  rmSync(moved, { force: true });
  if (isOthers) throw new BookHeldError(`The folder of the book is in use by process ${found.pid}.`);
}

function readHolder(file: string): Holder | null {
  try {
    const { pid, host, startedAt } = JSON.parse(readFileSync(file, 'utf8')) as Partial<Holder>;
    return typeof pid === 'number' && typeof host === 'string' ? { pid, host, startedAt: startedAt ?? '' } : null;
  } catch {
    return null;
  }
}

function isAlive({ pid, startedAt }: Holder): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EPERM') return false;
  }
  const started = readStart(pid);
  return started === null || started === startedAt;
}

/** Null where the system does not tell. */
function readStart(pid: number): string | null {
  try {
    // The name, in parentheses, may hold spaces.
    return (
      readFileSync(`/proc/${pid}/stat`, 'utf8')
        .replace(/^.*\) /s, '')
        .split(' ')[19] ?? null
    );
  } catch {
    return null;
  }
}

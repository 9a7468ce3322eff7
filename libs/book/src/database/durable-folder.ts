import { closeSync, fsyncSync, openSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

import { PGlite } from '@electric-sql/pglite';
import { NodeFS } from '@electric-sql/pglite/nodefs';

/** As PGlite's own, without `-F`, which turns fsync off; it has no fdatasync that does something. */
export const DURABLE_START = [
  ...PGlite.defaultStartParams.filter((param) => param !== '-F'),
  ...['-c', 'wal_sync_method=fsync'],
];

/** A file or a folder that PostgreSQL has open. */
interface OpenFile {
  /** Node's number of the file; a folder has none. */
  readonly nfd?: number;
  readonly node: object;
}

/** Emscripten's NODEFS, which writes to files and waits for no disk. */
interface NodeFiles {
  readonly stream_ops: { fsync?: (file: OpenFile) => number };
  realPath(node: object): string;
}

const DONE = 0;
/** EIO, as WASI numbers it: PostgreSQL stops, and recovers at the next start. */
const FAILED = 29;

/**
 * PGlite's folder on this machine, with what it lacks: a commit ends when the disk has it, and the process when PostgreSQL
 * panics, as for a log that is not written. PGlite would go on with the database, and never return.
 */
export class DurableFolder extends NodeFS {
  override async init(...args: Parameters<NodeFS['init']>): ReturnType<NodeFS['init']> {
    const { emscriptenOpts } = await super.init(...args);
    let reason = 'no reason given';
    const printErr = (line: string) => void (reason = /PANIC: +(.*)/.exec(line)?.[1] ?? reason);
    const preRun = [...(emscriptenOpts.preRun ?? []), addFsync];
    return { emscriptenOpts: { ...emscriptenOpts, preRun, printErr, onAbort: () => endProcess(reason) } };
  }
}

function endProcess(reason: string): void {
  try {
    const next = 'This process ends, and the next one goes on with what was committed.';
    process.stderr.write(`The database of the book has stopped: ${reason}. ${next}\n`);
  } finally {
    process.exit(1);
  }
}

function addFsync(module: { readonly NODEFS: unknown }): void {
  const files = module.NODEFS as NodeFiles;
  files.stream_ops.fsync = ({ nfd, node }) => {
    try {
      if (nfd === undefined) syncPath(files.realPath(node));
      else fsyncSync(nfd);
      return DONE;
    } catch {
      return FAILED;
    }
  };
}

/** Waits until the disk has everything in a folder, which PGlite has just made of an archive. */
export function syncFolder(folder: string): void {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  for (const path of [...names.map((name) => join(folder, name)), folder]) syncPath(path);
}

function syncPath(path: string): void {
  const file = openSync(path, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

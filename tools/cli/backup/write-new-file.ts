import { existsSync } from 'node:fs';
import { open, rename, rm, type FileHandle } from 'node:fs/promises';

import { CommandError } from '../shared/cli-command.js';

const FLUSH_BYTES = 1024 * 1024;

/**
 * Writes a new file that only its owner may read. Until it is whole and on disk it is called `<path>.part`, and a failure
 * removes it.
 * @throws CommandError where the file exists or cannot be written
 */
export async function writeNewFile<T>(path: string, work: (file: NewFile) => Promise<T>): Promise<T> {
  const part = `${path}.part`;
  assertNew(path);
  const handle = await open(part, 'wx', 0o600).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'EEXIST'
      ? new CommandError(`${part} exists: another backup writes it, or one was interrupted. Remove it in that case.`)
      : new CommandError(`${part} cannot be written: ${error.message}`);
  });
  try {
    const file = new NewFile(handle, part);
    const result = await work(file);
    await file.end();
    await handle.close();
    assertNew(path);
    await rename(part, path);
    return result;
  } catch (error) {
    await handle.close().catch(() => undefined);
    await rm(part, { force: true });
    throw error;
  }
}

function assertNew(path: string): void {
  if (existsSync(path)) throw new CommandError(`${path} exists, and a backup replaces no file. Choose another name.`);
}

/** Collects small parts, so that the disk gets large writes. */
export class NewFile {
  #waiting: Buffer[] = [];
  #waitingBytes = 0;
  /** So far. */
  bytes = 0;

  constructor(
    private readonly handle: FileHandle,
    private readonly path: string,
  ) {}

  async write(parts: readonly Buffer[]): Promise<void> {
    for (const part of parts) {
      this.#waiting.push(part);
      this.#waitingBytes += part.length;
      this.bytes += part.length;
    }
    if (this.#waitingBytes >= FLUSH_BYTES) await this.#flush();
  }

  /** Waits until the disk has everything. */
  async end(): Promise<void> {
    await this.#flush();
    await this.handle.sync().catch((error: unknown) => this.#fail(error));
  }

  async #flush(): Promise<void> {
    const block = Buffer.concat(this.#waiting);
    [this.#waiting, this.#waitingBytes] = [[], 0];
    for (let at = 0; at < block.length;) {
      const { bytesWritten } = await this.handle.write(block, at).catch((error: unknown) => this.#fail(error));
      at += bytesWritten;
    }
  }

  #fail(error: unknown): never {
    const reason = error instanceof Error ? error.message : String(error);
    throw new CommandError(`${this.path} could not be written (${reason}), and was removed. Free space and repeat.`);
  }
}

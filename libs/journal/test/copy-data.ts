import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { Redis } from 'ioredis';

import { startRedis, type RedisServer } from '../../../tools/devnet/processes/redis.js';
import { Journal } from '../src/store/journal.js';

/**
 * Copies a server's files. The function returned starts the server again with the copy, as if it had lost all later
 * writes, and with what `change` wrote on the copy before.
 */
export function copyData(server: RedisServer): (change?: (journal: Journal) => Promise<void>) => Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'tollgate-copy-'));
  cpSync(server.dir, dir, { recursive: true });
  return async (change) => {
    if (change) await changeCopy(dir, change);
    await server.kill();
    rmSync(server.dir, { recursive: true });
    cpSync(dir, server.dir, { recursive: true });
    rmSync(dir, { recursive: true });
    await server.start();
  };
}

async function changeCopy(dir: string, change: (journal: Journal) => Promise<void>): Promise<void> {
  const server = await startRedis({ dir });
  const redis = new Redis(server.url);
  const journal = new Journal({ redis, timeoutMs: 30_000 });
  await journal.open();
  for (const lane of await journal.readLanes()) {
    const { nextNonce, run } = await journal.readLane(lane);
    const reading = { pendingNonce: nextNonce ?? 0, blockNumber: 1, run: run ?? '' };
    await journal.thaw(lane, reading, { nonceDoubtBlocks: 0, nonceDoubtMs: 0 });
  }
  await change(journal);
  redis.disconnect();
  await server.stop();
}

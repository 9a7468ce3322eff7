import { setTimeout as sleep } from 'node:timers/promises';

import type { Logger } from '@nestjs/common';
import { listPrimaries, type RedisClient } from '@tollgate/redis';
import type { Cluster, Redis } from 'ioredis';

export interface PopLoopOptions {
  /** A connection of its own, because it blocks. */
  blocking: RedisClient;
  /** Another connection, used to unblock the first one at the end. */
  commands: RedisClient;
  /** Served in turn, so that a busy list does not hold up the others. */
  keys: readonly string[];
  /** How many entries to take; resolves only when there is room. */
  room: () => number | Promise<number>;
  take: (entry: string) => void;
  logger: Logger;
}

const BLOCK_SECONDS = 2;
const PAUSE_MS = 200;
const WAKE_AFTER_MS = 25;
/**
 * Longer than Redis blocks: entries that Redis popped until then may still arrive, and their senders repeat them only
 * much later.
 */
const STOP_WITHIN_MS = BLOCK_SECONDS * 1000 + 1000;

/** Pops batches from lists until stopped. Every error is logged once and retried. */
export class PopLoop {
  #running: Promise<void> | null = null;
  #stopping = false;

  constructor(private readonly options: PopLoopOptions) {}

  start(): void {
    this.#running ??= this.#run();
  }

  /**
   * Stops taking. Entries already popped are still delivered: the blocking command is ended, the connection is not cut.
   */
  async stop(): Promise<void> {
    this.#stopping = true;
    const running = this.#running;
    if (running === null) return;
    let ended = false;
    void running.then(() => (ended = true));
    const { blocking } = this.options;
    const giveUpAtMs = performance.now() + STOP_WITHIN_MS;
    for (let attempt = 1; !ended && blocking.status === 'ready' && performance.now() < giveUpAtMs; attempt++) {
      void this.#wake();
      await Promise.race([running, sleep(attempt * WAKE_AFTER_MS)]);
    }
    // Redis is down or hangs, so nothing can have been popped.
    if (ended) return;
    const servers = listPrimaries(blocking);
    blocking.disconnect();
    // A Redis that hangs does not answer the closing of the connection either.
    for (const server of servers) server.stream?.destroy();
    await Promise.race([running, sleep(500)]);
  }

  async #run(): Promise<void> {
    const { blocking, room, take, logger } = this.options;
    let { keys } = this.options;
    let failing = false;
    while (!this.#stopping) {
      try {
        const count = await room();
        if (this.#stopping) break;
        const popped = await blocking.blmpop(BLOCK_SECONDS, keys.length, ...keys, 'LEFT', 'COUNT', count);
        failing = false;
        if (popped === null) continue;
        const [key, entries] = popped;
        if (keys.length > 1) keys = [...keys.filter((other) => other !== key), key];
        for (const entry of entries) take(entry);
      } catch (error) {
        if (this.#stopping) break;
        if (!failing) logger.error(`cannot read ${keys[0]}: ${error instanceof Error ? error.message : String(error)}`);
        failing = true;
        await sleep(PAUSE_MS);
      }
    }
  }

  async #wake(): Promise<void> {
    const { blocking, commands } = this.options;
    if (blocking.status !== 'ready' || commands.status !== 'ready') return;
    const name = String(readConnectionName(blocking));
    await Promise.all(listPrimaries(commands).map((server) => unblock(server, name)));
  }
}

/** The client id is looked up by name each time, because it changes with every reconnection. */
async function unblock(server: Redis, name: string): Promise<void> {
  const clients = String(await server.call('CLIENT', 'LIST', 'TYPE', 'normal').catch(() => ''));
  for (const line of clients.split('\n')) {
    const id = line.includes(` name=${name} `) ? /\bid=(\d+)/.exec(line)?.[1] : undefined;
    if (id !== undefined) await server.call('CLIENT', 'UNBLOCK', id).catch(() => undefined);
  }
}

function readConnectionName(redis: RedisClient): string | null | undefined {
  if (redis.isCluster) return (redis as Cluster).options.redisOptions?.connectionName;
  return (redis as Redis).options.connectionName;
}

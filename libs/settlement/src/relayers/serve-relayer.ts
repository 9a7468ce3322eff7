import { setMaxListeners } from 'node:events';

import { pause, type Chain, type Journal } from '@tollgate/journal';

import type { Relayer } from './relayer.js';
import { RelayerUpkeep } from './relayer-upkeep.js';

/** Takes questions from the settle queue for one relayer until it is closed, which waits for their answers. */
export interface SettleServer {
  close(): Promise<void>;
}

export interface SettleServers {
  /** @param signal aborted when this process releases the relayer */
  open(relayer: Relayer, signal: AbortSignal): Promise<SettleServer>;
}

export interface ServeParts {
  journal: Journal;
  chain: Chain;
  servers: SettleServers;
  /** Aborted when this process stops: no further question is taken. */
  leaving: AbortSignal;
}

const LOOK_EVERY_MS = 500;

/**
 * Serves the settle queue while this process holds a relayer that can settle, so that requests only reach processes
 * that can act on them. A relayer that cannot settle, for lack of gas for instance, leaves them to the others. Resolves
 * once every question that was taken has its answer.
 */
export async function serveRelayer(
  { journal, chain, servers, leaving }: ServeParts,
  relayer: Relayer,
  signal: AbortSignal,
): Promise<void> {
  const { lane, onTrouble } = relayer;
  // Every waiting request listens to it.
  setMaxListeners(0, signal);
  const upkeep = new RelayerUpkeep({ journal, chain, onTrouble }, lane);
  const over = AbortSignal.any([signal, leaving]);
  let server: SettleServer | null = null;
  const closing: Promise<void>[] = [];
  try {
    while (!over.aborted) {
      const isFit = await upkeep.run().catch((error: unknown) => {
        onTrouble(error);
        // If the state cannot be read, keep serving or not serving as before.
        return server !== null;
      });
      if (isFit) server ??= await servers.open(relayer, signal);
      else if (server) {
        closing.push(server.close());
        server = null;
      }
      await pause(LOOK_EVERY_MS, over);
    }
  } finally {
    await Promise.all([...closing, server?.close()]);
  }
}

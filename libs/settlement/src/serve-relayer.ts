import { setMaxListeners } from 'node:events';

import { pause, UnreadableJobError, type Chain, type JobRecord, type Journal, type LaneId } from '@tollgate/journal';

import type { Relayer } from './submit.js';

/** Takes questions from the settle queue for one relayer until it is closed, which waits for their answers. */
export interface SettleServer {
  close(): Promise<void>;
}

export interface SettleServers {
  /**
   * @param released aborted when this process releases the relayer
   * @param over aborted when no further question is to be taken; null where that comes before the queue can be served
   */
  open(relayer: Relayer, released: AbortSignal, over: AbortSignal): Promise<SettleServer | null>;
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
      if (isFit) server ??= await servers.open(relayer, signal, over);
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

/** The number of latest events searched for parked jobs; older ones are not found. */
const EVENTS_READ = 5_000;
const EVENTS_AT_ONCE = 1_000;
/** How often a job that no RPC server accepts is offered again. */
const OFFER_AGAIN_MS = 30_000;

const NONCE_TAKEN = {
  code: 'NONCE_TAKEN',
  message: 'The nonce was used by a transaction that the journal does not know.',
  suggestion: 'Find out what else signs for this relayer: nothing else may use its key.',
};

/**
 * Does for a relayer what an operator does for other wallets. This is safe because transactions that the journal has
 * forgotten can be sent again without charging a payer twice: a token accepts each authorization once.
 */
class RelayerUpkeep {
  readonly #parked = new Map<string, number>();
  #readUntil: number | null = null;

  constructor(
    private readonly parts: { journal: Journal; chain: Chain; onTrouble: (error: unknown) => void },
    private readonly lane: LaneId,
  ) {}

  /** Returns whether the relayer can settle. @throws what the chain or Redis throw; the state is then unknown */
  async run(): Promise<boolean> {
    const { journal, chain } = this.parts;
    const { nextNonce, frozen, paused, lastSequence } = await journal.readLane(this.lane);
    if (nextNonce === null || frozen === 'chain_ahead' || frozen === 'lost') {
      await journal.adopt(this.lane, { pendingNonce: await chain.readPendingNonce(this.lane.address) });
    }
    await this.#findParked(lastSequence);
    await this.#releaseParked();
    if (paused) this.parts.onTrouble(new Error(`${paused.message} ${paused.suggestion}`));
    return nextNonce !== null && frozen === null && paused === null;
  }

  async #findParked(lastSequence: number): Promise<void> {
    this.#readUntil ??= Math.max(0, lastSequence - EVENTS_READ);
    while (this.#readUntil < lastSequence) {
      const events = await this.parts.journal.outbox.read(this.lane, { after: this.#readUntil, count: EVENTS_AT_ONCE });
      for (const { type, jobId } of events) if (type === 'jobNeedsOperator') this.#parked.set(jobId, performance.now());
      this.#readUntil = events.at(-1)?.sequence ?? lastSequence;
    }
  }

  async #releaseParked(): Promise<void> {
    if (this.#parked.size === 0) return;
    const { journal, chain, onTrouble } = this.parts;
    const { minedNonce } = await chain.readHead(this.lane.address);
    for (const [jobId, sinceMs] of this.#parked) {
      const [job] = await journal.readEachJob([jobId]);
      if (job instanceof UnreadableJobError) {
        onTrouble(job);
        continue;
      }
      const nonce = job?.state === 'NEEDS_OPERATOR' ? nonceOf(job) : undefined;
      if (nonce === undefined) this.#parked.delete(jobId);
      else if (nonce !== null && nonce < minedNonce) {
        await journal.abandonJob({ jobId, minedNonce, failure: NONCE_TAKEN });
      } else if (nonce === null || performance.now() - sinceMs > OFFER_AGAIN_MS) {
        await journal.resumeJob(jobId);
      }
    }
  }
}

function nonceOf({ steps, stepIndex }: JobRecord): number | null {
  return steps[stepIndex]?.nonce ?? null;
}

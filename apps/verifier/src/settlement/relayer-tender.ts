import type { Chain, Journal, JobRecord, LaneId } from '@tollgate/transactions';

/** Events that are read to find out which jobs wait for somebody; those of older ones are known to nobody here. */
const EVENTS_READ = 5_000;
const EVENTS_AT_ONCE = 1_000;
/** How often what no RPC server takes is offered again. */
const OFFER_AGAIN_MS = 30_000;

const NONCE_TAKEN = {
  code: 'NONCE_TAKEN',
  message: 'The nonce was used by a transaction that the journal does not know.',
  suggestion: 'Find out who else signs for this relayer: nobody may.',
};

/**
 * Does for a relayer what an operator does for other wallets: whatever it may have sent that its journal has forgotten
 * can be sent again and charges nobody twice, since a token takes each authorization once.
 */
export class RelayerTender {
  readonly #parked = new Map<string, number>();
  #readUntil: number | null = null;

  constructor(
    private readonly parts: { journal: Journal; chain: Chain; onTrouble: (error: unknown) => void },
    private readonly lane: LaneId,
  ) {}

  /** True: it can settle. Throws what chain or Redis throw; then nothing is known. */
  async tend(): Promise<boolean> {
    const { journal, chain } = this.parts;
    const { nextNonce, frozen, paused, lastSequence } = await journal.readLane(this.lane);
    if (nextNonce === null || frozen === 'chain_ahead') {
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
    const { journal, chain } = this.parts;
    const { minedNonce } = await chain.readHead(this.lane.address);
    for (const [jobId, sinceMs] of this.#parked) {
      const job = await journal.readJob(jobId);
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

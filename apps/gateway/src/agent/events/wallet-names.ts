import { nameLane, type JobEvent } from '@tollgate/journal';

import type { AgentConnections } from '../shared/agent-connections.js';

const KEPT_MS = 10_000;

/** Finds the wallet names for the accounts in the journal's events. */
export class WalletNames {
  #names: ReadonlyMap<string, string | null> = new Map();
  #readAtMs = Number.NEGATIVE_INFINITY;

  constructor(private readonly connections: AgentConnections) {}

  /** The wallet's name as used by the job's submitter; the account if the job is no longer stored. */
  async nameOf({ lane, jobId }: JobEvent): Promise<string> {
    const account = nameLane(lane);
    await this.#refresh();
    const name = this.#names.get(account);
    if (typeof name === 'string') return name;
    const job = await this.connections.journal.readJob(jobId);
    return job?.wallet ?? account;
  }

  /** Null marks an account with several names. */
  async #refresh(): Promise<void> {
    if (performance.now() - this.#readAtMs < KEPT_MS) return;
    const wallets = await this.connections.within(this.connections.wallets.list());
    const names = new Map<string, string | null>();
    for (const { name, lane } of wallets) names.set(nameLane(lane), names.has(nameLane(lane)) ? null : name);
    this.#names = names;
    this.#readAtMs = performance.now();
  }
}

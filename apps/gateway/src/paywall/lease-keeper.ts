import type { Lease, Ledger } from '@tollgate/ledger';

/** Renews a lease while the response is produced. `signal` is aborted when another holder takes over the payment. */
export class LeaseKeeper {
  readonly #controller = new AbortController();
  readonly #timer: NodeJS.Timeout;

  constructor(
    private readonly ledger: Pick<Ledger, 'renew'>,
    readonly lease: Lease,
    leaseMs: number,
  ) {
    this.#timer = setInterval(() => void this.#renew(leaseMs), Math.ceil(leaseMs / 3));
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  async #renew(leaseMs: number): Promise<void> {
    // If Redis is unavailable, the lease may outlast the outage; the commit decides.
    const renewed = await this.ledger.renew(this.lease, leaseMs).catch(() => true);
    if (!renewed) this.#controller.abort(new Error('The lease was taken over.'));
  }
}

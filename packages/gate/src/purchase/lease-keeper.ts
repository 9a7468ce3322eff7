/** Renews a claim's lease. `signal` is aborted when another request takes over the payment. */
export class LeaseKeeper {
  readonly #controller = new AbortController();
  readonly #timer: ReturnType<typeof setInterval>;

  constructor(
    private readonly claim: { renew(): Promise<boolean> },
    leaseMs: number,
  ) {
    this.#timer = setInterval(() => void this.#renew(), Math.ceil(leaseMs / 3));
    (this.#timer as { unref?: () => void }).unref?.();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  async #renew(): Promise<void> {
    // If the store is unavailable, the lease may outlast the outage; the commit decides.
    const renewed = await this.claim.renew().catch(() => true);
    if (!renewed) this.#controller.abort(new Error('The lease was taken over.'));
  }
}

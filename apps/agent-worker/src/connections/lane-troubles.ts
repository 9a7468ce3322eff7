import { Inject, Injectable, Logger } from '@nestjs/common';
import { ChainUnavailableError } from '@tollgate/chain';
import { StoreUnavailableError } from '@tollgate/redis';
import { Counter, Registry } from 'prom-client';

const AGAIN_AFTER_MS = 60_000;
const MAX_REMEMBERED = 200;
const MAX_LENGTH = 300;

/** Logs errors in lanes that are retried. Each is logged once a minute, since retries happen many times a second. */
@Injectable()
export class LaneTroubles {
  readonly #logger = new Logger('Lanes');
  readonly #toldAtMs = new Map<string, number>();
  readonly #counter: Counter<'wallet'>;

  constructor(@Inject(Registry) registry: Registry) {
    this.#counter = new Counter({
      name: 'tollgate_agent_lane_troubles_total',
      help: 'Errors in the lane of a wallet that are retried.',
      labelNames: ['wallet'],
      registers: [registry],
    });
  }

  /** @param wallet its name; empty for an error of no particular wallet */
  report(wallet: string, error: unknown): void {
    this.#counter.inc({ wallet });
    const reason = (error instanceof Error ? error.message : String(error)).slice(0, MAX_LENGTH);
    const trouble = `${wallet}: ${reason}`;
    const now = performance.now();
    if (now - (this.#toldAtMs.get(trouble) ?? -Infinity) < AGAIN_AFTER_MS) return;
    // Messages may contain any text, so their number must be limited.
    if (this.#toldAtMs.size >= MAX_REMEMBERED) this.#toldAtMs.clear();
    this.#toldAtMs.set(trouble, now);
    if (isOutage(error)) {
      this.#logger.warn({ msg: 'a lane waits', wallet, reason });
    } else {
      this.#logger.error({ msg: 'trouble in a lane', wallet, err: error });
    }
  }
}

/** A shared dependency does not answer: the stack trace would say nothing useful. */
function isOutage(error: unknown): boolean {
  if (error instanceof ChainUnavailableError || error instanceof StoreUnavailableError) return true;
  return error instanceof Error && error.cause !== undefined && isOutage(error.cause);
}

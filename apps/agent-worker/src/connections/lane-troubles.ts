import { Inject, Injectable, Logger } from '@nestjs/common';
import { ChainUnavailableError } from '@tollgate/chain';
import { RareErrors } from '@tollgate/common';
import { StoreUnavailableError } from '@tollgate/redis';
import { Counter, Registry } from 'prom-client';

/** Logs errors in lanes that are retried. Each is logged once a minute, since retries happen many times a second. */
@Injectable()
export class LaneTroubles {
  readonly #logger = new Logger('Lanes');
  readonly #errors = new RareErrors();
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
    const reason = this.#errors.takeReason(wallet, error);
    if (reason === null) return;
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

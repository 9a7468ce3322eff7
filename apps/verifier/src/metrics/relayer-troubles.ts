import { Inject, Injectable, Logger } from '@nestjs/common';
import { RareErrors } from '@tollgate/common';
import type { Hex } from '@tollgate/protocol';
import { Counter, Registry } from 'prom-client';

/**
 * Reports failures that keep relayers from settling and are retried. Each is logged once a minute, because it is
 * retried many times a second.
 */
@Injectable()
export class RelayerTroubles {
  readonly #logger = new Logger('Relayers');
  readonly #errors = new RareErrors();
  readonly #counter: Counter<'relayer'>;

  constructor(@Inject(Registry) registry: Registry) {
    this.#counter = new Counter({
      name: 'tollgate_relayer_troubles_total',
      help: 'Failures that kept a relayer from settling and are retried.',
      labelNames: ['relayer'],
      registers: [registry],
    });
  }

  /** @param relayer null when it concerns no single relayer */
  report(relayer: Hex | null, error: unknown): void {
    this.#counter.inc({ relayer: relayer ?? '' });
    const reason = this.#errors.takeReason(relayer ?? '', error);
    if (reason !== null) this.#logger.warn({ msg: 'a relayer waits', relayer, reason });
  }
}

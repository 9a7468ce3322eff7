import { Inject, Injectable, Logger } from '@nestjs/common';
import type { Hex } from '@tollgate/protocol';
import { Counter, Registry } from 'prom-client';

const AGAIN_AFTER_MS = 60_000;
const MAX_REMEMBERED = 200;
const MAX_LENGTH = 300;

/**
 * Reports failures that keep relayers from settling and are retried. Each is logged once a minute, because it is
 * retried many times a second.
 */
@Injectable()
export class RelayerTroubles {
  readonly #logger = new Logger('Relayers');
  readonly #toldAtMs = new Map<string, number>();
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
    const reason = (error instanceof Error ? error.message : String(error)).slice(0, MAX_LENGTH);
    const trouble = `${relayer}: ${reason}`;
    const now = performance.now();
    if (now - (this.#toldAtMs.get(trouble) ?? -Infinity) < AGAIN_AFTER_MS) return;
    // Error messages are unbounded, so the memory of them is bounded.
    if (this.#toldAtMs.size >= MAX_REMEMBERED) this.#toldAtMs.clear();
    this.#toldAtMs.set(trouble, now);
    this.#logger.warn({ msg: 'a relayer waits', relayer, reason });
  }
}

import { Logger } from '@nestjs/common';
import { findDifferences, type SettingDifference } from '@tollgate/config';
import type { ComparedQuestion, SettingsDiffer } from '@tollgate/transport';
import { Counter, type Registry } from 'prom-client';

export interface AskersSettingsOptions {
  /** The settings of this process, as `describeSettings` gives them. */
  own: string;
  registry: Registry;
  nowMs?: () => number;
}

/** Settings sent by gateways that differ from this verifier's own. */
interface OtherSettings {
  readonly differences: readonly SettingDifference[];
  lastAskedMs: number;
}

/** How long a gateway that has stopped asking stays visible; a running one asks every few seconds. */
const SHOWN_MS = 60_000;
/** Any writer to the queue can send made-up settings, so memory and log are bounded. */
const MOST_KEPT = 16;

/**
 * Compares each gateway's settings with this verifier's own, and reports differences once in the log, in a metric, and
 * in the readiness body. Gateways whose settings agree are served meanwhile.
 */
export class AskersSettings {
  readonly #logger = new Logger('Settings');
  readonly #others = new Map<string, OtherSettings>();
  readonly #labels: ReadonlySet<string>;
  readonly #counter: Counter<'setting'>;
  readonly #nowMs: () => number;

  constructor(private readonly options: AskersSettingsOptions) {
    const all = findDifferences({ gateway: '', verifier: options.own });
    this.#labels = new Set(all.map(({ setting }) => setting));
    this.#nowMs = options.nowMs ?? (() => performance.now());
    this.#counter = new Counter({
      name: 'tollgate_verifier_settings_differ_total',
      help: 'Questions of gateways with different payment settings, by the setting that differs.',
      labelNames: ['setting'],
      registers: [options.registry],
    });
  }

  /** The answer for a sender whose settings differ; null when they agree. */
  findFault({ settings: asked }: ComparedQuestion<object>): SettingsDiffer | null {
    const { own } = this.options;
    if (asked === own || !this.#note(asked)) return null;
    return { outcome: 'unavailable', reason: 'settings_differ', settings: own };
  }

  /** The recent differences, one list for each set of settings received. */
  get differences(): (readonly SettingDifference[])[] {
    const sinceMs = this.#nowMs() - SHOWN_MS;
    return [...this.#others.values()]
      .filter(({ differences, lastAskedMs }) => differences.length > 0 && lastAskedMs >= sinceMs)
      .map(({ differences }) => differences);
  }

  /** False when only the order differs. */
  #note(asked: string): boolean {
    const known = this.#others.get(asked);
    const { own } = this.options;
    const other = known ?? { differences: findDifferences({ gateway: asked, verifier: own }), lastAskedMs: 0 };
    const { differences } = other;
    other.lastAskedMs = this.#nowMs();
    // Metric labels are limited to the settings that are known, whatever was sent.
    for (const { setting } of differences)
      this.#counter.inc({ setting: this.#labels.has(setting) ? setting : 'unknown' });
    if (known === undefined) this.#keep(asked, other);
    return differences.length > 0;
  }

  #keep(asked: string, other: OtherSettings): void {
    this.#others.set(asked, other);
    const [oldest] = this.#others.keys();
    if (this.#others.size > MOST_KEPT && oldest !== undefined) this.#others.delete(oldest);
    if (other.differences.length > 0)
      this.#logger.error(`a gateway's questions are answered with settings_differ: ${describe(other)}`);
  }
}

function describe({ differences }: OtherSettings): string {
  return differences
    .map(
      ({ setting, gateway, verifier }) =>
        `${setting} is ${gateway ?? 'unknown'} there and ${verifier ?? 'unknown'} here`,
    )
    .join(', ');
}

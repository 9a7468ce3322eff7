import { Logger } from '@nestjs/common';
import { findDifferences, type SettingDifference, type SettingsDiffer } from '@tollgate/common';
import { Counter, type Registry } from 'prom-client';

export interface AskersSettingsOptions {
  /** As `describeSettings` has those of this process. */
  own: string;
  registry: Registry;
  nowMs?: () => number;
}

/** Settings that were asked under and are not this verifier's own. */
interface OtherSettings {
  readonly differences: readonly SettingDifference[];
  lastAskedMs: number;
}

/** How long a gateway that has stopped asking is still shown; it asks every few seconds. */
const SHOWN_MS = 60_000;
/** Every writer to the queue can make up settings: memory and log are bounded. */
const MOST_KEPT = 16;
const MAX_TEXT = 16_384;
/** In place of a setting's name where a question came without any. */
const MISSING = 'missing';

/**
 * Compares the settings of each asker with this verifier's own, and shows operators what differs: once in the log, in a
 * metric, and in the readiness body. Gateways that agree are served meanwhile.
 */
export class AskersSettings {
  readonly #logger = new Logger('Settings');
  readonly #others = new Map<string, OtherSettings>();
  readonly #labels: ReadonlySet<string>;
  readonly #counter: Counter<'setting'>;
  readonly #nowMs: () => number;

  constructor(private readonly options: AskersSettingsOptions) {
    const all = findDifferences({ gateway: '', verifier: options.own });
    this.#labels = new Set([MISSING, ...all.map(({ setting }) => setting)]);
    this.#nowMs = options.nowMs ?? (() => performance.now());
    this.#counter = new Counter({
      name: 'tollgate_verifier_settings_differ_total',
      help: 'Questions of gateways that are set up for other payments, by the setting that differs.',
      labelNames: ['setting'],
      registers: [options.registry],
    });
  }

  /** Null where the sender of this message is set up as this verifier is; otherwise what it is answered. */
  findFault(message: unknown): SettingsDiffer | null {
    const { own } = this.options;
    const asked = readSettings(message);
    if (asked === own || !this.#note(asked)) return null;
    return { outcome: 'unavailable', reason: 'settings_differ', settings: own };
  }

  /** What differed lately, for each set of settings that was asked under. */
  get differences(): (readonly SettingDifference[])[] {
    const sinceMs = this.#nowMs() - SHOWN_MS;
    return [...this.#others.values()]
      .filter(({ differences, lastAskedMs }) => differences.length > 0 && lastAskedMs >= sinceMs)
      .map(({ differences }) => differences);
  }

  /** False where nothing differs but the order. */
  #note(asked: string): boolean {
    const known = this.#others.get(asked);
    const other = known ?? { differences: this.#compare(asked), lastAskedMs: 0 };
    const { differences } = other;
    other.lastAskedMs = this.#nowMs();
    // A metric's labels are those of this release, whatever was sent.
    for (const { setting } of differences)
      this.#counter.inc({ setting: this.#labels.has(setting) ? setting : 'unknown' });
    if (known === undefined) this.#keep(asked, other);
    return differences.length > 0;
  }

  #keep(asked: string, other: OtherSettings): void {
    this.#others.set(asked, other);
    const [oldest] = this.#others.keys();
    if (this.#others.size > MOST_KEPT && oldest !== undefined) this.#others.delete(oldest);
    if (other.differences.length > 0) this.#logger.error(`a gateway is answered settings_differ: ${describe(other)}`);
  }

  #compare(asked: string): SettingDifference[] {
    if (asked === '') return [{ setting: MISSING, gateway: null, verifier: null }];
    return findDifferences({ gateway: asked, verifier: this.options.own });
  }
}

/** Empty for a message that does not say: a gateway of an earlier release. */
function readSettings(message: unknown): string {
  const { settings } = (message ?? {}) as { settings?: unknown };
  return typeof settings === 'string' && settings.length <= MAX_TEXT ? settings : '';
}

function describe({ differences }: OtherSettings): string {
  return differences
    .map(({ setting, gateway, verifier }) =>
      setting === MISSING
        ? 'it does not send its settings, as those of earlier releases; update it'
        : `${setting} is ${gateway ?? 'unknown'} there and ${verifier ?? 'unknown'} here`,
    )
    .join(', ');
}

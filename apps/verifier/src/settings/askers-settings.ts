import { Logger } from '@nestjs/common';
import { findDifferences, type PaymentOption, type SettingDifference } from '@tollgate/config';
import type { SettingsDiffer } from '@tollgate/transport';
import { Counter, type Registry } from 'prom-client';

/** The settings of this process for one option. */
export interface OwnSettings {
  readonly option: PaymentOption;
  /** Null where there is no other. */
  readonly name: string | null;
  /** As `describeSettings` gives them. */
  readonly text: string;
}

export interface AskersSettingsOptions {
  own: readonly [OwnSettings, ...OwnSettings[]];
  registry: Registry;
  nowMs?: () => number;
}

/** A setting that differs, and the option that it is of. */
export type OptionDifference = SettingDifference & { readonly option?: string };

/** Settings sent by gateways, and those of this verifier's that they are compared with. */
interface OtherSettings {
  readonly own: OwnSettings;
  /** Empty when only the order differs. */
  readonly differences: readonly SettingDifference[];
  lastAskedMs: number;
}

/** How long a gateway that has stopped asking stays visible; a running one asks every few seconds. */
const SHOWN_MS = 60_000;
/** Any writer to the queue can send made-up settings, so memory and log are bounded, by this for each option. */
const MOST_KEPT = 16;
/** Of a token of this process, whatever else differs. */
const TOKEN_SETTINGS: ReadonlySet<string> = new Set(['CHAIN_ID', 'ASSET_ADDRESS']);

/**
 * Compares each gateway's settings of an option with this verifier's own, and reports differences once in the log, in a
 * metric, and in the readiness body. Gateways and options whose settings agree are served meanwhile.
 */
export class AskersSettings {
  readonly #logger = new Logger('Settings');
  readonly #options: ReadonlyMap<string, PaymentOption>;
  readonly #others = new Map<string, OtherSettings>();
  readonly #labels: ReadonlySet<string>;
  readonly #counter: Counter<'option' | 'setting'>;
  readonly #nowMs: () => number;

  constructor(private readonly options: AskersSettingsOptions) {
    const { own, registry, nowMs = () => performance.now() } = options;
    this.#options = new Map(own.map(({ text, option }) => [text, option]));
    this.#labels = new Set(findDifferences({ gateway: '', verifier: own[0].text }).map(({ setting }) => setting));
    this.#nowMs = nowMs;
    this.#counter = new Counter({
      name: 'tollgate_verifier_settings_differ_total',
      help: 'Questions of gateways with different payment settings, by the nearest option and the setting that differs.',
      labelNames: ['option', 'setting'],
      registers: [registry],
    });
  }

  /** The option that a sender has the same settings of; otherwise the answer, with the settings of the nearest one. */
  match(asked: string): PaymentOption | SettingsDiffer {
    const option = this.#options.get(asked);
    if (option !== undefined) return option;
    const { own, differences } = this.#note(asked);
    if (differences.length === 0) return own.option;
    return { outcome: 'unavailable', reason: 'settings_differ', settings: own.text };
  }

  /** The recent differences, one list for each set of settings received. */
  get differences(): (readonly OptionDifference[])[] {
    const sinceMs = this.#nowMs() - SHOWN_MS;
    return [...this.#others.values()]
      .filter(({ differences, lastAskedMs }) => differences.length > 0 && lastAskedMs >= sinceMs)
      .map(({ own: { name }, differences }) =>
        differences.map((one) => (name === null ? one : { option: name, ...one })),
      );
  }

  #note(asked: string): OtherSettings {
    const known = this.#others.get(asked);
    const other = known ?? { ...this.#compare(asked), lastAskedMs: 0 };
    other.lastAskedMs = this.#nowMs();
    // Metric labels are limited to the settings that are known, whatever was sent.
    for (const { setting } of other.differences)
      this.#counter.inc({ option: other.own.option.entry, setting: this.#labels.has(setting) ? setting : 'unknown' });
    if (known === undefined) this.#keep(asked, other);
    return other;
  }

  /** With the option of the same token that differs least; for a token that none has, with any that does. */
  #compare(asked: string): Pick<OtherSettings, 'own' | 'differences'> {
    const compared = this.options.own.map((own) => ({
      own,
      differences: findDifferences({ gateway: asked, verifier: own.text }),
    }));
    const isOfToken = ({ differences }: (typeof compared)[number]): boolean =>
      !differences.some(({ setting }) => TOKEN_SETTINGS.has(setting));
    const ofToken = compared.filter(isOfToken);
    return (ofToken.length > 0 ? ofToken : compared).reduce((least, one) =>
      one.differences.length < least.differences.length ? one : least,
    );
  }

  #keep(asked: string, other: OtherSettings): void {
    this.#others.set(asked, other);
    const [oldest] = this.#others.keys();
    if (this.#others.size > MOST_KEPT * this.options.own.length && oldest !== undefined) this.#others.delete(oldest);
    if (other.differences.length > 0)
      this.#logger.error(`a gateway's questions are answered with settings_differ: ${describe(other)}`);
  }
}

function describe({ own: { name }, differences }: OtherSettings): string {
  const all = differences.map(
    ({ setting, gateway, verifier }) => `${setting} is ${gateway ?? 'unknown'} there and ${verifier ?? 'unknown'} here`,
  );
  return `${name === null ? '' : `option ${name}: `}${all.join(', ')}`;
}

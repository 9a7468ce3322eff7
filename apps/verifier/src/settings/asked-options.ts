import type { PaymentOption } from '@tollgate/config';
import type { Hex } from '@tollgate/protocol';
import type { ComparedQuestion, OptionUnready, SettingsDiffer } from '@tollgate/transport';

import type { AskersSettings } from './askers-settings.js';
import type { TokenComparison } from './token-comparison.js';

/** The answer to a question that is not judged, whatever it is about. */
export type NotTaken = SettingsDiffer | OptionUnready;

export interface AskedOptionsParts {
  /** Addresses in lower case. */
  readonly options: readonly PaymentOption[];
  readonly askers: Pick<AskersSettings, 'match'>;
  readonly tokens: Pick<TokenComparison, 'findFault'>;
}

/** What a question is about: an option that is judged here, or why it is not judged, and its option where it is known. */
type Asked =
  | { readonly option: PaymentOption; readonly fault: null }
  | { readonly option: PaymentOption | null; readonly fault: NotTaken };

/** Finds out for each question which option it is about, and whether that is judged here. */
export class AskedOptions {
  readonly #assets: ReadonlySet<Hex>;

  constructor(private readonly parts: AskedOptionsParts) {
    this.#assets = new Set(parts.options.map(({ asset }) => asset));
  }

  /**
   * The option whose settings came with the question. A question in the token of another option is not judged by them.
   * @param asset the token of the question's terms, where it has terms; it may be one that the facilitator alone settles
   */
  find({ settings }: ComparedQuestion<object>, asset?: Hex): Asked {
    const { askers, tokens } = this.parts;
    const option = askers.match(settings);
    if ('outcome' in option) return { option: null, fault: option };
    if (asset !== undefined && asset !== option.asset && this.#assets.has(asset))
      return { option: null, fault: { outcome: 'unavailable', reason: 'settings_differ' } };
    return { option, fault: tokens.findFault(option) };
  }
}

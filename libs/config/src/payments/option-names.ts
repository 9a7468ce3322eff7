import type { PaymentOption, Payments } from './payments.js';

/** How messages name an option and the settings that describe it. */
export interface OptionNames {
  /** Null where variables describe it: there is no other. */
  readonly option: string | null;
  readonly token: string;
  readonly decimals: string;
  readonly domain: string;
  readonly payTo: string;
  readonly relayers: string;
}

export const VARIABLE_NAMES: OptionNames = {
  option: null,
  token: 'ASSET_ADDRESS',
  decimals: 'ASSET_DECIMALS',
  domain: 'ASSET_NAME, ASSET_VERSION, FACILITATOR_ASSETS',
  payTo: 'PAY_TO',
  relayers: 'RELAYER_PRIVATE_KEYS',
};

/** How messages name an option. @param payments what `PAYMENTS_FILE` says; null without one */
export function nameOption(payments: Payments | null, option: PaymentOption): OptionNames {
  return payments === null ? VARIABLE_NAMES : nameInFile(option);
}

/** The names that an option has in `PAYMENTS_FILE`. */
export function nameInFile({ name, entry, chain }: PaymentOption): OptionNames {
  const place = `accepts.${entry}`;
  return {
    option: name,
    token: `${place}.token`,
    decimals: `${place}.decimals`,
    domain: `${place}.name, ${place}.version`,
    payTo: `${place}.payTo`,
    relayers: `chains.${chain.name}.relayers`,
  };
}

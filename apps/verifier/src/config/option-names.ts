import type { PaymentOption } from '@tollgate/config';

/** How messages name an option and the settings that describe it. */
export interface OptionNames {
  /** Null where variables describe it: there is no other. */
  readonly option: string | null;
  readonly decimals: string;
  readonly domain: string;
  readonly payTo: string;
  readonly relayers: string;
}

export const VARIABLE_NAMES: OptionNames = {
  option: null,
  decimals: 'ASSET_DECIMALS',
  domain: 'ASSET_NAME, ASSET_VERSION, FACILITATOR_ASSETS',
  payTo: 'PAY_TO',
  relayers: 'RELAYER_PRIVATE_KEYS',
};

/** The names that an option has in `PAYMENTS_FILE`. */
export function nameInFile({ name, entry, chain }: PaymentOption): OptionNames {
  const place = `accepts.${entry}`;
  return {
    option: name,
    decimals: `${place}.decimals`,
    domain: `${place}.name, ${place}.version`,
    payTo: `${place}.payTo`,
    relayers: `chains.${chain.name}.relayers`,
  };
}

import type { PaymentOption } from '@tollgate/config';
import { ASSET_DECIMALS_DIFFER } from '@tollgate/transport';

import { AskedOptions } from './asked-options.js';

const optionOf = (name: string, asset: PaymentOption['asset']): PaymentOption => ({ name, asset }) as PaymentOption;
const [usdc, weth] = [optionOf('usdc', '0xa'), optionOf('weth', '0xb')];
const DIFFER = { outcome: 'unavailable', reason: 'settings_differ', settings: 'those of the nearest' } as const;
const UNREADY = { outcome: 'unavailable', reason: ASSET_DECIMALS_DIFFER } as const;

/** The settings are the option's name; that of `weth` is unready. */
const asked = new AskedOptions({
  options: [usdc, weth],
  askers: { match: (settings) => [usdc, weth].find(({ name }) => name === settings) ?? DIFFER },
  tokens: { findFault: (option) => (option === weth ? UNREADY : null) },
});

describe('a question is judged by the settings of its option', () => {
  it.each([
    ['in the token of its option', 'usdc', '0xa', usdc, null],
    ['without terms', 'usdc', undefined, usdc, null],
    ['in a token that the facilitator alone settles', 'usdc', '0xc', usdc, null],
    [
      "with one option's terms and another's settings",
      'usdc',
      '0xb',
      null,
      { outcome: 'unavailable', reason: 'settings_differ' },
    ],
    ['with settings that differ', 'other', '0xa', null, DIFFER],
    ['of an option that is not ready', 'weth', '0xb', weth, UNREADY],
    ['of an option that is not ready, without terms', 'weth', undefined, weth, UNREADY],
  ] as const)('%s: %s %s', (_, settings, asset, option, fault) => {
    expect(asked.find({ settings }, asset)).toEqual({ option, fault });
  });
});

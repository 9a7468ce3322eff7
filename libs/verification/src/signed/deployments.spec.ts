import { listFactories, NO_FACTORIES } from '@tollgate/chain';
import type { Hex } from '@tollgate/protocol';

import { SellerTerms } from '../seller-terms.js';
import { Deployments, type DeploymentSettings } from './deployments.js';

const SELLER: Hex = `0x${'aa'.repeat(20)}`;
const TOKEN: Hex = `0x${'bb'.repeat(20)}`;
const OTHER: Hex = `0x${'cc'.repeat(20)}`;
const [COIN, VAULT]: [Hex, Hex] = [`0x${'dd'.repeat(20)}`, `0x${'ee'.repeat(20)}`];
const FACTORIES = listFactories([OTHER]);

const terms = new SellerTerms(1328, [
  { asset: TOKEN, payTo: SELLER },
  { asset: COIN, payTo: VAULT },
]);
const create = (changes: Partial<DeploymentSettings> = {}) =>
  new Deployments({ factories: FACTORIES, terms, gasCap: 700_000, mostCost: null, ...changes });

describe('the deployments that a relayer pays for', () => {
  it('are for sales of the options alone: each token with its own recipient', () => {
    expect(create().factoriesFor({ payTo: SELLER, asset: TOKEN })).toBe(FACTORIES);
    expect(create().factoriesFor({ payTo: VAULT, asset: COIN })).toBe(FACTORIES);
    expect(create().factoriesFor({ payTo: VAULT, asset: TOKEN })).toBe(NO_FACTORIES);
    expect(create().factoriesFor({ payTo: OTHER, asset: TOKEN })).toBe(NO_FACTORIES);
    expect(create().factoriesFor({ payTo: SELLER, asset: OTHER })).toBe(NO_FACTORIES);
    expect(create({ gasCap: 0 }).factoriesFor({ payTo: SELLER, asset: TOKEN })).toBe(NO_FACTORIES);
  });

  // 700,000 gas at 1 gwei are 0.0007 coins; at 2 USDC a coin 0.0014 USDC, ten times a price of 140 base units. The other
  // token has 18 decimals and is worth half a coin: 0.0014 of it, ten times a price of 0.00014.
  it.each([
    ['140', TOKEN, 1_000_000_000n, true],
    ['139', TOKEN, 1_000_000_000n, false],
    ['140', TOKEN, 1_000_000_001n, false],
    ['1', TOKEN, 0n, true],
    ['1', TOKEN, 10n ** 30n, false],
    [String(2n ** 256n - 1n), TOKEN, 500_000_000_000n, true],
    ['140000000000000', COIN, 1_000_000_000n, true],
    ['139999999999999', COIN, 1_000_000_000n, false],
    ['140', OTHER, 0n, false],
  ] as const)('for a price of %s in %s at a fee of %s: %s', (priceBaseUnits, asset, maxFeePerGas, isWorth) => {
    const mostCost = new Map([
      [TOKEN, { coinsBaseUnits: 2_000_000n * 10n ** 18n, multiple: 10 }],
      [COIN, { coinsBaseUnits: 2n * 10n ** 36n, multiple: 10 }],
    ]);
    expect(create({ mostCost }).isWorth({ asset, priceBaseUnits }, { maxFeePerGas })).toBe(isWorth);
  });

  it('are worth nothing while the chain asks more than the fee caps, and anything while no price of a coin is set', () => {
    const mostCost = new Map([[TOKEN, { coinsBaseUnits: 1n, multiple: 10 }]]);
    expect(create({ mostCost }).isWorth({ asset: TOKEN, priceBaseUnits: '1000' }, null)).toBe(false);
    expect(create().isWorth({ asset: TOKEN, priceBaseUnits: '1' }, { maxFeePerGas: 10n ** 18n })).toBe(true);
  });
});

import { listFactories, NO_FACTORIES } from '@tollgate/chain';
import type { Hex } from '@tollgate/protocol';

import { Deployments, type DeploymentSettings } from './deployments.js';

const SELLER: Hex = `0x${'aa'.repeat(20)}`;
const TOKEN: Hex = `0x${'bb'.repeat(20)}`;
const OTHER: Hex = `0x${'cc'.repeat(20)}`;
const FACTORIES = listFactories([OTHER]);

const create = (changes: Partial<DeploymentSettings> = {}) =>
  new Deployments({ factories: FACTORIES, payTo: SELLER, asset: TOKEN, gasCap: 700_000, mostCost: null, ...changes });

describe('the deployments that a relayer pays for', () => {
  it('are for sales of the own recipient in the token of its prices alone', () => {
    expect(create().factoriesFor({ payTo: SELLER, asset: TOKEN })).toBe(FACTORIES);
    expect(create().factoriesFor({ payTo: OTHER, asset: TOKEN })).toBe(NO_FACTORIES);
    expect(create().factoriesFor({ payTo: SELLER, asset: OTHER })).toBe(NO_FACTORIES);
    expect(create({ gasCap: 0 }).factoriesFor({ payTo: SELLER, asset: TOKEN })).toBe(NO_FACTORIES);
  });

  // 700,000 gas at 1 gwei are 0.0007 coins; at 2 USDC a coin 0.0014 USDC, ten times a price of 140 base units.
  it.each([
    ['140', 1_000_000_000n, true],
    ['139', 1_000_000_000n, false],
    ['140', 1_000_000_001n, false],
    ['1', 0n, true],
    ['1', 10n ** 30n, false],
    [String(2n ** 256n - 1n), 500_000_000_000n, true],
  ])('for a price of %s at a fee of %s: %s', (price, maxFeePerGas, isWorth) => {
    const deployments = create({ mostCost: { coinsBaseUnits: 2_000_000n * 10n ** 18n, multiple: 10 } });
    expect(deployments.isWorth(price, { maxFeePerGas })).toBe(isWorth);
  });

  it('are worth nothing while the chain asks more than the fee caps, and anything while no price of a coin is set', () => {
    expect(create({ mostCost: { coinsBaseUnits: 1n, multiple: 10 } }).isWorth('1000', null)).toBe(false);
    expect(create().isWorth('1', { maxFeePerGas: 10n ** 18n })).toBe(true);
  });
});

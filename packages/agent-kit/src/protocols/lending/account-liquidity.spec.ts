import fc from 'fast-check';

import {
  borrowableBaseUnits,
  chooseCollateral,
  collateralValue,
  debtValue,
  healthTenThousandths,
  redeemableBaseUnits,
  suppliedBaseUnits,
  sumAccount,
  type LendingHolding,
} from './account-liquidity.js';

const ONE = 10n ** 18n;

/** Tokens with 6, 8 and 18 decimals at 0.0001 to a million per whole unit, in Compound's scale. */
const holdings = fc.constantFrom(6n, 8n, 18n).chain((decimals) =>
  fc.record<LendingHolding>({
    isEntered: fc.boolean(),
    shares: fc.bigInt({ min: 0n, max: 10n ** 18n }),
    exchangeRate: fc.bigInt({ min: 10n ** (8n + decimals), max: 10n ** (11n + decimals) }),
    borrowed: fc.constant(0n),
    collateralFactor: fc.bigInt({ min: 0n, max: (ONE * 9n) / 10n }),
    price: fc.bigInt({ min: 10n ** (32n - decimals), max: 10n ** (42n - decimals) }),
  }),
);
const indebted = holdings.chain((holding) =>
  fc.bigInt({ min: 0n, max: 10n ** 24n }).map((borrowed) => ({ ...holding, isEntered: true, borrowed })),
);
const accounts = fc
  .tuple(fc.array(holdings, { maxLength: 4 }), fc.array(indebted, { maxLength: 2 }))
  .map(([supplied, borrowed]) => [...supplied, ...borrowed]);

describe('the limits of a lending account', () => {
  it('allow borrowing exactly as much as the collateral covers', () => {
    fc.assert(
      fc.property(accounts, holdings, (account, market) => {
        const { collateral, debt } = sumAccount(account.map((holding) => ({ ...holding, isEntered: true })));
        const baseUnits = borrowableBaseUnits(account, market);
        if (collateral <= debt) {
          expect(baseUnits).toBe(0n);
          return;
        }
        expect(debtValue(market, baseUnits)).toBeLessThanOrEqual(collateral - debt);
        expect(debtValue(market, baseUnits + 1n)).toBeGreaterThanOrEqual(collateral - debt);
        expect(chooseCollateral(account, debtValue(market, baseUnits))).not.toBeNull();
      }),
    );
  });

  it('make only the supplies collateral that a borrow needs', () => {
    fc.assert(
      fc.property(accounts, fc.bigInt({ min: 1n, max: 10n ** 27n }), (account, value) => {
        const chosen = chooseCollateral(account, value);
        const covers = (entered: readonly LendingHolding[]) => {
          const { collateral, debt } = sumAccount(
            account.map((holding) => (entered.includes(holding) ? { ...holding, isEntered: true } : holding)),
          );
          return collateral >= debt + value;
        };
        expect(chosen !== null).toBe(covers(account));
        if (chosen === null) return;
        expect(chosen.every(({ isEntered }) => !isEntered)).toBe(true);
        expect(covers(chosen)).toBe(true);
        if (chosen.length > 0) expect(covers(chosen.slice(0, -1))).toBe(false);
      }),
    );
  });

  it('allow withdrawing collateral while the rest covers the debt, with the comptroller’s own rounding', () => {
    fc.assert(
      fc.property(accounts, indebted, (others, holding) => {
        const account = [...others, holding];
        const { collateral, debt } = sumAccount(account);
        const amount = redeemableBaseUnits(account, holding);
        expect(amount).toBeLessThanOrEqual(suppliedBaseUnits(holding));
        if (debt === 0n) expect(amount).toBe(suppliedBaseUnits(holding));
        if (debt === 0n || collateral < debt || collateralValue(holding) === 0n) return;
        const shares = (amount * ONE) / holding.exchangeRate;
        expect(collateral - collateralValue(holding, shares)).toBeGreaterThanOrEqual(debt);
      }),
    );
  });

  it('report a position as unhealthy exactly when its debt exceeds its collateral', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: 0n, max: 10n ** 40n }),
        fc.bigInt({ min: 1n, max: 10n ** 40n }),
        (collateral, debt) => {
          expect(healthTenThousandths({ collateral, debt })! < 10_000n).toBe(collateral < debt);
        },
      ),
    );
    expect(healthTenThousandths({ collateral: 1n, debt: 0n })).toBeNull();
  });

  it('count a supply of one base unit, and one too large for a double, exactly', () => {
    const market = { isEntered: true, borrowed: 0n, collateralFactor: ONE, price: ONE };
    expect(suppliedBaseUnits({ shares: 9_007_199_254_740_993n, exchangeRate: ONE })).toBe(9_007_199_254_740_993n);
    expect(collateralValue({ ...market, shares: 1n, exchangeRate: ONE })).toBe(1n);
  });
});

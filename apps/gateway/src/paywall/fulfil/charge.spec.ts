import { parseCharge } from './charge.js';

const terms = (
  decimals: number,
  rate: string,
  symbol: string,
  maximumBaseUnits: bigint,
  hasSeveralOptions = false,
) => ({
  maximumBaseUnits,
  option: { decimals, rate, symbol },
  hasSeveralOptions,
});

describe('the charge that a resource reported', () => {
  it('is at most the maximum, in base units of the option, and without a charge the maximum', () => {
    const weth = terms(18, '0.00026', 'WETH', 2_600_000_000_000n);
    expect([parseCharge('0.01', weth), parseCharge(' 0.005', weth), parseCharge(undefined, weth)]).toEqual([
      2_600_000_000_000n,
      1_300_000_000_000n,
      2_600_000_000_000n,
    ]);
  });

  it.each([
    ['0.02', terms(18, '0.00026', 'WETH', 2_600_000_000_000n), '0.02, which is 0.0000052 WETH', '0.0000026 WETH'],
    ['0.02', terms(6, '1', 'USDC', 10_000n), '0.02, which is 0.02 USDC', '0.01 USDC'],
  ])('of %s above the maximum is refused, and both are named in one unit', (text, metered, charged, maximum) => {
    expect(() => parseCharge(text, metered)).toThrow(
      `The resource charged ${charged} and exceeds the agreed maximum of ${maximum}.`,
    );
  });

  it('may be no whole number of base units only where the resource does not know the option', () => {
    expect(parseCharge('0.0012345', terms(6, '1', 'USDC', 10_000n, true))).toBe(1_234n);
    expect(() => parseCharge('0.0012345', terms(6, '1', 'USDC', 10_000n))).toThrow(/cannot be read/);
  });
});

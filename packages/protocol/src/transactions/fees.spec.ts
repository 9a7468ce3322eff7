import fc from 'fast-check';

import { highestPrice, quoteFees, raiseFees, raiseHeadFees } from './fees.js';

const CAPS = { maxFeePerGas: 500n, maxPriorityFeePerGas: 50n, defaultPriorityFeePerGas: 3n };

describe('the fees of a transaction', () => {
  it('are twice the base fee plus the priority fee that the node suggests', () => {
    expect(quoteFees({ baseFeePerGas: 100n, suggestedPriorityFee: 7n }, CAPS)).toEqual({
      maxFeePerGas: 207n,
      maxPriorityFeePerGas: 7n,
    });
    expect(quoteFees({ baseFeePerGas: 100n, suggestedPriorityFee: null }, CAPS).maxPriorityFeePerGas).toBe(3n);
  });

  it('never exceed the caps, and the priority fee never exceeds the whole', () => {
    fc.assert(
      fc.property(fc.bigInt(0n, 10n ** 12n), fc.bigInt(0n, 10n ** 12n), (baseFeePerGas, suggestedPriorityFee) => {
        const { maxFeePerGas, maxPriorityFeePerGas } = quoteFees({ baseFeePerGas, suggestedPriorityFee }, CAPS);
        expect(maxFeePerGas <= 500n && maxPriorityFeePerGas <= 50n && maxPriorityFeePerGas <= maxFeePerGas).toBe(true);
      }),
    );
  });

  it('are the gas price on a chain without a base fee, which the cap of priority fees does not limit', () => {
    const at = (price: bigint) => ({ maxFeePerGas: price, maxPriorityFeePerGas: price, isLegacy: true as const });
    const quote = quoteFees({ baseFeePerGas: null, gasPrice: 400n }, CAPS);
    expect(quote).toEqual(at(400n));
    expect(quoteFees({ baseFeePerGas: null, gasPrice: 600n }, CAPS)).toEqual(at(500n));
    expect(raiseFees(at(440n), quote, CAPS)).toEqual(at(495n));
    expect(raiseFees(at(100n), quote, CAPS)).toEqual(at(400n));
    expect(raiseFees(at(450n), quote, CAPS)).toBeNull();
  });

  it('are both raised by at least an eighth, or not at all', () => {
    const fee = fc.bigInt(0n, 600n);
    fc.assert(
      fc.property(fee, fee, fee, fee, (maxFeePerGas, maxPriorityFeePerGas, base, tip) => {
        const last = { maxFeePerGas, maxPriorityFeePerGas };
        const raised = raiseFees(last, quoteFees({ baseFeePerGas: base, suggestedPriorityFee: tip }, CAPS), CAPS);
        if (!raised) {
          expect(maxFeePerGas * 9n > 500n * 8n || maxPriorityFeePerGas * 9n > 50n * 8n).toBe(true);
          return;
        }
        expect(raised.maxFeePerGas * 8n >= maxFeePerGas * 9n && raised.maxFeePerGas > maxFeePerGas).toBe(true);
        expect(raised.maxPriorityFeePerGas * 8n >= maxPriorityFeePerGas * 9n).toBe(true);
        expect(raised.maxPriorityFeePerGas > maxPriorityFeePerGas).toBe(true);
        expect(raised.maxFeePerGas <= 500n && raised.maxPriorityFeePerGas <= raised.maxFeePerGas).toBe(true);
      }),
    );
  });

  it('of a replacement without caps are raised by an eighth too, by the kind that the head asks for', () => {
    const dynamic = { type: 'eip1559', maxFeePerGas: 800n, maxPriorityFeePerGas: 8n } as const;
    expect(raiseHeadFees(dynamic, { ...dynamic, maxFeePerGas: 400n, maxPriorityFeePerGas: 80n })).toEqual({
      ...dynamic,
      maxFeePerGas: 900n,
      maxPriorityFeePerGas: 80n,
    });
    const legacy = { type: 'legacy', gasPrice: 800n } as const;
    expect(raiseHeadFees(legacy, { ...legacy, gasPrice: 100n })).toEqual({ ...legacy, gasPrice: 900n });
    expect(raiseHeadFees(legacy, dynamic)).toEqual({ ...dynamic, maxFeePerGas: 900n, maxPriorityFeePerGas: 900n });
    expect([highestPrice(legacy), highestPrice(dynamic)]).toEqual([800n, 800n]);
  });
});

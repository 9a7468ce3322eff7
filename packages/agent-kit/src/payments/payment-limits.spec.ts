import { MemoryPaymentStore, type PaymentStore } from '@tollgate/client';

import { createPaymentLimits } from './payment-limits.js';

const prefersSignatures = (store?: PaymentStore | 'memory') =>
  createPaymentLimits({ chainId: 8453, payments: { network: 'base', tokens: [] } }, [], { ...(store && { store }) })
    .prefersSignatures;

describe('the limits of payments', () => {
  afterEach(() => void Reflect.deleteProperty(globalThis, 'navigator'));

  it('prefer signatures where the store loses payments with the process', () => {
    expect([prefersSignatures(), prefersSignatures('memory'), prefersSignatures(new MemoryPaymentStore())]).toEqual([
      ...[false, true, true],
    ]);
  });

  it('prefer signatures in a Worker, whose default store is memory', () => {
    const value = { userAgent: 'Cloudflare-Workers' };
    Object.defineProperty(globalThis, 'navigator', { value, configurable: true });
    expect(prefersSignatures()).toBe(true);
  });
});

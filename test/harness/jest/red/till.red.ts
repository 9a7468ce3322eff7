import { type Order, Till } from './till.js';

interface Sale {
  order: Order;
  taken: bigint;
}

type Sales = Sale[] | Record<string, Sale>;

const SALES: Sales = [{ order: { id: 'tea', amount: 1n }, taken: 2n }];

const till = new Till(5n);

describe('a red file', () => {
  it('fails at an expectation', () => {
    const { order, taken } = SALES[0]!;
    expect(new Till(1n).take(order)).toBe(taken);
  });

  it('fails in a module', () => {
    till.take(SALES[0]!.order);
  });

  it('fails in a module after a wait', async () => {
    await till.takeLater(SALES[0]!.order);
  });

  it('fails at a rejection', async () => {
    await expect(till.takeLater(SALES[0]!.order)).resolves.toBe(1n);
  });

  it.each(Object.values(SALES))('fails in a function without a name', async ({ order }) => {
    await expect(till.takeLater(order)).rejects.toThrow('no tea');
  });

  describe('whose hook fails', () => {
    beforeAll(() => {
      new Till(9n).take(SALES[0]!.order);
    });

    it('is not run', () => {});
  });
});

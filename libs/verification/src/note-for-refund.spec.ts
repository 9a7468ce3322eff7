import { noteForRefund } from './refusals.js';

const TX_HASH = `0x${'a1'.repeat(32)}` as const;

describe('noteForRefund', () => {
  it.each([
    ['logs new money with the request that found it', true, [{ requestId: 'req-1', txHash: TX_HASH }]],
    ['logs money on record no second time', false, []],
  ])('%s', async (_, isNew, lines) => {
    const logged: object[] = [];
    const notes = {
      ledger: { recordRefusal: () => Promise.resolve(isNew) },
      refundLog: { log: (line: object) => void logged.push(line) },
    };
    const id = { kind: 'transfer', chainId: 1328, txHash: TX_HASH, logIndex: 0 } as const;
    await noteForRefund(notes, { id, failure: 'payment_too_old', minedAtMs: 1 }, 'req-1');
    expect(logged).toMatchObject(lines);
  });
});

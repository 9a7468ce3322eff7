import { noteForRefund } from './refusals.js';
import { SellerTerms } from './seller-terms.js';

const SHOP = `0x${'aa'.repeat(20)}` as const;
const AMOUNT = { amountBaseUnits: '7', asset: `0x${'ee'.repeat(20)}` } as const;
const TX_HASH = `0x${'a1'.repeat(32)}` as const;

describe('noteForRefund', () => {
  it.each([
    [
      'logs new money, its amount and its token with the request',
      SHOP,
      true,
      [{ ...AMOUNT, payTo: SHOP, requestId: 'req-1', txHash: TX_HASH }],
    ],
    ['logs money on record no second time', SHOP, false, []],
    ["records nothing of another seller's money", `0x${'cc'.repeat(20)}`, true, []],
  ] as const)('%s', async (_, payTo, isNew, lines) => {
    const logged: object[] = [];
    const recorded: object[] = [];
    const notes = {
      terms: new SellerTerms(1328, [{ asset: AMOUNT.asset, payTo: SHOP }]),
      ledger: { recordRefusal: (refusal: object) => Promise.resolve(recorded.push(refusal) > 0 && isNew) },
      refundLog: { log: (line: object) => void logged.push(line) },
    };
    const id = { kind: 'transfer', chainId: 1328, txHash: TX_HASH, logIndex: 0 } as const;
    const asked = { requestId: 'req-1', payTo, asset: AMOUNT.asset };
    const refusal = { id, failure: 'payment_too_old', minedAtMs: 1 } as const;
    await noteForRefund(notes, { ...refusal, amountBaseUnits: 7n }, asked);
    expect(logged).toMatchObject(lines);
    await noteForRefund(notes, refusal, asked);
    expect(recorded.slice(-2)).toEqual(
      payTo === SHOP ? [{ ...refusal, amountBaseUnits: 7n, asset: AMOUNT.asset, payTo }, refusal] : [],
    );
  });
});

import { parseBookEvent } from './book-event.js';

const HASH = `0x${'ab'.repeat(32)}`;
const ADDRESS = `0x${'cd'.repeat(20)}`;
const PAYMENT = `tx:1328:${HASH}:3`;

const TIMELINE = { presentedAtMs: 1, verifiedAtMs: 2, claimedAtMs: 3, fulfilledAtMs: 4, settledAtMs: null };
const SALE = {
  requestId: 'r-1',
  route: '/weather/:city',
  method: 'GET',
  scheme: 'tx-hash',
  network: 'eip155:1328',
  chainId: 1328,
  asset: ADDRESS,
  payTo: ADDRESS,
  payer: ADDRESS,
  amount: '10000',
  price: '10000',
  transaction: HASH,
  logIndex: 3,
};
const ON_CHAIN = {
  chainId: 1328,
  transaction: HASH,
  nonce: 7,
  outcome: 'success',
  gasUsed: '51000',
  effectiveGasPrice: '1000000000',
  blockNumber: 12,
  blockHash: HASH,
  jobId: 'j1',
  operation: 'settle',
};
const SETTLED = { payment: 'auth:1', asset: ADDRESS, payTo: ADDRESS, payer: ADDRESS, amount: null, logIndex: null };

const FACTS = {
  answered: {
    ...SALE,
    requestHash: 'f'.repeat(22),
    answerHash: 'a'.repeat(64),
    status: 200,
    bytes: 92,
    upstreamMs: 5,
    timeline: TIMELINE,
  },
  settled: { ...ON_CHAIN, relayer: ADDRESS, payments: [SETTLED] },
  released: { reason: 'failed', sale: SALE, timeline: TIMELINE },
  refused: {
    failure: 'payment_too_old',
    payer: null,
    asset: ADDRESS,
    payTo: ADDRESS,
    amount: '5',
    transaction: HASH,
    logIndex: 3,
    minedAtMs: 9,
    detail: null,
    count: 4,
  },
  refunding: { from: 'released', refund: 'refund-1', reason: null },
  refunded: { refund: 'refund-1', transaction: HASH, amount: '5', recipient: ADDRESS },
  job_transaction: { ...ON_CHAIN, wallet: ADDRESS, step: 0, kind: 'cancel', value: '0' },
  acted: { keyId: 'worker', action: 'wallet.fill', subject: 'main', details: { nonce: 41 } },
};

function entry(type: string, facts: unknown, changes: Record<string, string> = {}): string[] {
  const fields = { v: '1', type, at: '1700000000000', payment: PAYMENT, facts: JSON.stringify(facts), ...changes };
  return Object.entries(fields).flat();
}

describe('parseBookEvent', () => {
  it.each(Object.entries(FACTS))('reads %s', (type, facts) => {
    expect(parseBookEvent(entry(type, facts))).toEqual({ type, atMs: 1_700_000_000_000, payment: PAYMENT, facts });
  });

  it('drops a field that it does not know, so that a newer writer can add one', () => {
    const read = parseBookEvent(entry('refunding', { ...FACTS.refunding, approvedBy: 'key-2' }));
    expect(read).toMatchObject({ type: 'refunding', facts: FACTS.refunding });
    expect(read).not.toHaveProperty('facts.approvedBy');
  });

  it.each([
    ['of a later version', 'version', entry('answered', FACTS.answered, { v: '2' })],
    ['without a version', 'version', ['type', 'answered']],
    ['of an unknown type', 'type', entry('minted', {})],
    ['of a type that every object has', 'type', entry('toString', {})],
    ['whose facts are no JSON', 'fields', entry('refunded', {}, { facts: '{' })],
    ['whose facts are no object', 'fields', entry('refunded', [])],
    ['without one of its facts', 'fields', entry('refunded', { ...FACTS.refunded, amount: undefined })],
    ['with a fractional amount', 'fields', entry('refunded', { ...FACTS.refunded, amount: '1.5' })],
    ['with an amount as a number', 'fields', entry('refunded', { ...FACTS.refunded, amount: 5 })],
    ['with a negative amount', 'fields', entry('refunded', { ...FACTS.refunded, amount: '-5' })],
    [
      'with a bad address in a list',
      'fields',
      entry('settled', { ...FACTS.settled, payments: [{ ...SETTLED, payer: '0x' }] }),
    ],
    ['of an act in the name of an API key', 'fields', entry('acted', { ...FACTS.acted, keyId: 'key-1' })],
    ['without a time', 'fields', entry('refunded', FACTS.refunded, { at: 'soon' })],
  ] as const)('returns an entry %s as unknown', (_, why, flat) => {
    const fields = Object.fromEntries(
      Array.from({ length: flat.length / 2 }, (_pair, index) => [flat[2 * index], flat[2 * index + 1]]),
    );
    expect(parseBookEvent(flat)).toEqual({ type: 'unknown', why, fields });
  });
});

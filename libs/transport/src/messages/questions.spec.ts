import { MalformedMessageError } from '@tollgate/schemas';

import { COMPARE_SETTINGS } from './compare-settings.js';
import { parseAnswer, parseQuestion } from './messages.js';
import { SETTLE_SIGNED_PAYMENT } from './settle-signed-payment.js';
import { VERIFY_CONTRACT_SIGNATURE } from './verify-contract-signature.js';
import { VERIFY_LOCK } from './verify-lock.js';
import { VERIFY_PAYMENT } from './verify-payment.js';
import { VERIFY_SIGNED_PAYMENT } from './verify-signed-payment.js';

const ADDRESS = `0x${'Ab'.repeat(20)}`;
const HASH = `0x${'Cd'.repeat(32)}`;
const asked = { requestId: 'r-1', deadlineMs: 1.5, clientAddress: '::1' };

const transaction = {
  ...asked,
  owner: 'owner_-1',
  network: 'chain-testnet',
  chainId: 1328,
  asset: ADDRESS,
  payTo: ADDRESS,
  priceBaseUnits: '1000',
  txHash: HASH,
  fingerprint: 'f',
  retryKey: null,
  leaseMs: 30_000,
};
const reference = { text: 'chain-1-a', issuedAtMs: 1, priceBaseUnits: '5' };

const terms = {
  chainId: 1328,
  asset: ADDRESS,
  assetName: 'USD Coin',
  assetVersion: '2',
  payTo: ADDRESS,
  priceBaseUnits: '1000',
};
const authorization = {
  from: ADDRESS,
  to: ADDRESS,
  value: '1000',
  validAfter: '0',
  validBefore: '2000000000',
  nonce: HASH,
};
const payment = { kind: 'authorization', authorization, signature: '0xAB' };
const claim = { owner: 'owner_-1', fingerprint: 'f', retryKey: null, leaseMs: 30_000 };
const signed = { ...asked, terms, payment, claim };

const settling = { requestId: 'r-1', deadlineMs: 1.5, terms, payment, amountBaseUnits: '1000' };
const simulation = { atMs: 1, balanceBaseUnits: '5000' };

const contract = { ...asked, chainId: 1328, signer: ADDRESS, hash: HASH, signature: '0x12' };
const lock = { ...asked, chainId: 1328, asset: ADDRESS, payTo: ADDRESS, priceBaseUnits: '5', txHash: HASH, lock: HASH };

/** With hexadecimal text in lower case. */
const lower = (message: object): unknown =>
  JSON.parse(JSON.stringify(message), (_name, value: unknown) =>
    typeof value === 'string' && value.startsWith('0x') ? value.toLowerCase() : value,
  );
const without = <T extends object>(value: T): object[] =>
  Object.keys(value).map((name) => ({ ...value, [name]: undefined }));
const NO_OBJECTS = [null, 7, 'text', [], {}];

describe('a question', () => {
  it.each([
    [VERIFY_PAYMENT, transaction],
    [VERIFY_PAYMENT, { ...transaction, reference, signature: '0xAB' }],
    [VERIFY_PAYMENT, { ...transaction, retryKey: 'key' }],
    [VERIFY_PAYMENT, { ...transaction, keyReserves: false }],
    [VERIFY_SIGNED_PAYMENT, signed],
    [VERIFY_SIGNED_PAYMENT, { ...signed, claim: null }],
    [VERIFY_SIGNED_PAYMENT, { ...signed, validForMs: 45_000 }],
    [VERIFY_SIGNED_PAYMENT, { ...signed, claim: { ...claim, retryKey: 'key', mustBeSettled: true } }],
    [SETTLE_SIGNED_PAYMENT, settling],
    [SETTLE_SIGNED_PAYMENT, { ...settling, simulation }],
    [VERIFY_CONTRACT_SIGNATURE, contract],
    [VERIFY_LOCK, lock],
  ] as const)('%s is parsed, hexadecimal text in lower case, without unknown fields', (pattern, message) => {
    const settings = 'CHAIN_ID=1328';
    expect(parseQuestion(pattern, { ...message, settings, more: 1 })).toStrictEqual({
      ...(lower(message) as object),
      settings,
    });
  });

  it.each([
    ...NO_OBJECTS,
    ...without(transaction),
    ...Object.keys(transaction).map((name) => ({ ...transaction, [name]: { toString: () => 'x' } })),
    { ...transaction, txHash: '0x12' },
    { ...transaction, priceBaseUnits: '-1' },
    { ...transaction, priceBaseUnits: '1e3' },
    { ...transaction, owner: 'a b' },
    { ...transaction, deadlineMs: Number.NaN },
    { ...transaction, reference: 'chain-1-a' },
    { ...transaction, reference: { text: 'chain-1-a', issuedAtMs: '1', priceBaseUnits: '5' } },
    { ...transaction, signature: 'none' },
    { ...transaction, signature: `0x${'00'.repeat(20_000)}` },
    { ...transaction, clientAddress: 'x'.repeat(2000) },
  ])('about a transaction is refused: %j', (malformed: unknown) => {
    expect(() => parseQuestion(VERIFY_PAYMENT, malformed)).toThrow(MalformedMessageError);
  });

  const malformedPayments = [
    ...without(payment).slice(1),
    ...without(authorization).map((faulty) => ({ ...payment, authorization: faulty })),
    { ...payment, kind: 'cash' },
    { ...payment, signature: `0x${'00'.repeat(5000)}` },
  ];
  const malformedTerms = [...without(terms), { ...terms, priceBaseUnits: '-1' }];

  it.each([
    ...NO_OBJECTS,
    ...without(signed),
    ...malformedTerms.map((faulty) => ({ ...signed, terms: faulty })),
    ...malformedPayments.map((faulty) => ({ ...signed, payment: faulty })),
    ...without(claim).map((faulty) => ({ ...signed, claim: faulty })),
    { ...signed, claim: { ...claim, owner: 'a b' } },
    { ...signed, validForMs: '45000' },
    { ...signed, validForMs: -1 },
  ])('about a signed payment is refused, message %#', (malformed: unknown) => {
    expect(() => parseQuestion(VERIFY_SIGNED_PAYMENT, malformed)).toThrow(MalformedMessageError);
  });

  it.each([
    ...NO_OBJECTS,
    ...without(settling),
    ...malformedTerms.map((faulty) => ({ ...settling, terms: faulty })),
    ...malformedPayments.map((faulty) => ({ ...settling, payment: faulty })),
    { ...settling, amountBaseUnits: '0x5' },
    ...without(simulation).map((faulty) => ({ ...settling, simulation: faulty })),
  ])('to settle is refused, message %#', (malformed: unknown) => {
    expect(() => parseQuestion(SETTLE_SIGNED_PAYMENT, malformed)).toThrow(MalformedMessageError);
  });

  it.each([
    ...without(contract),
    { ...contract, signer: '0x12' },
    { ...contract, hash: '0x12' },
    { ...contract, signature: 'mine' },
    { ...contract, signature: `0x${'12'.repeat(4097)}` },
    { ...contract, chainId: '1328' },
    { ...contract, deadlineMs: null },
  ])("about a contract's signature is refused: %.300j", (malformed: unknown) => {
    expect(() => parseQuestion(VERIFY_CONTRACT_SIGNATURE, malformed)).toThrow(MalformedMessageError);
  });

  it.each([...NO_OBJECTS, ...without(lock), { ...lock, lock: '0x12' }])(
    'about a lock is refused: %j',
    (malformed: unknown) => {
      expect(() => parseQuestion(VERIFY_LOCK, malformed)).toThrow(MalformedMessageError);
    },
  );

  it('is refused with the name of the first field that is malformed, as deep as it is', () => {
    const malformed = { ...signed, terms: { ...terms, asset: '0x12' }, claim: 7 };
    const text = 'The message\'s "asset" is missing or malformed.';
    expect(() => parseQuestion(VERIFY_SIGNED_PAYMENT, malformed)).toThrow(new MalformedMessageError(text));
    const none = new MalformedMessageError('The message\'s "message" is missing or malformed.');
    expect(() => parseQuestion(VERIFY_SIGNED_PAYMENT, 'text')).toThrow(none);
  });

  it.each([[undefined], [7], [{}], ['x'.repeat(20_000)]])('has empty settings where they are %.20j', (settings) => {
    expect(parseQuestion(COMPARE_SETTINGS, { settings })).toEqual({ settings: '' });
    expect(parseQuestion(VERIFY_LOCK, { ...lock, settings })).toMatchObject({ settings: '' });
  });

  it.each([null, 'text', [], 7])('about settings is refused if it is %j', (malformed: unknown) => {
    expect(() => parseQuestion(COMPARE_SETTINGS, malformed)).toThrow(MalformedMessageError);
  });
});

describe('an answer', () => {
  const id = { kind: 'transfer', chainId: 1328, txHash: HASH, logIndex: 0 };
  const lease = { id, owner: 'owner_-1', generation: 1, untilMs: 5.5 };
  const claimed = { outcome: 'claimed', lease, payer: ADDRESS };

  it.each([
    [VERIFY_PAYMENT, { ...claimed, bound: true, amountBaseUnits: '5' }],
    [VERIFY_PAYMENT, { outcome: 'answered', id: { kind: 'transaction', chainId: 1, txHash: HASH } }],
    [VERIFY_PAYMENT, { outcome: 'paused', retryAfterMs: 5 }],
    [VERIFY_PAYMENT, { outcome: 'unavailable', reason: 'settings_differ', settings: 'CHAIN_ID=1' }],
    // Prevents: a gateway of the release before takes a verdict for none, and its payer pays again.
    [VERIFY_PAYMENT, { outcome: 'refused', failure: 'a_failure_of_a_later_release' }],
    [VERIFY_SIGNED_PAYMENT, { ...claimed, txHash: null, simulation }],
    [VERIFY_SIGNED_PAYMENT, { outcome: 'valid', payer: ADDRESS, txHash: HASH, amountBaseUnits: '5' }],
    [VERIFY_SIGNED_PAYMENT, { outcome: 'conflict' }],
    [SETTLE_SIGNED_PAYMENT, { outcome: 'settled', txHash: HASH, payer: ADDRESS, amountBaseUnits: '5' }],
    [SETTLE_SIGNED_PAYMENT, { outcome: 'pending', txHash: null }],
    [COMPARE_SETTINGS, { outcome: 'agreed', takesAuthorizations: true }],
    [COMPARE_SETTINGS, { outcome: 'agreed' }],
  ] as const)('to %s is parsed, without unknown fields', (pattern, answer) => {
    expect(parseAnswer(pattern, { ...answer, more: 1 })).toStrictEqual(lower(answer));
  });

  it.each([
    ...NO_OBJECTS,
    { outcome: 'paid' },
    { outcome: 'busy' },
    { ...claimed, lease: null, bound: true },
    { ...claimed, lease: { ...lease, id: { ...id, kind: 'log' } }, bound: true },
    claimed,
  ])('is refused: %j', (malformed: unknown) => {
    expect(() => parseAnswer(VERIFY_PAYMENT, malformed)).toThrow(MalformedMessageError);
  });
});

import { createPaymentCall } from '@tollgate/client/internal';
import type { PaymentRequirement } from '@tollgate/protocol';

import { findPaidChallenge, listChallenges, parseKeptChallenge, writeChallenge } from './kept-challenge.js';

const requirement: PaymentRequirement = {
  scheme: 'exact',
  network: 'chain-testnet',
  maxAmountRequired: '1000',
  resource: '/api/weather',
  description: 'Current weather',
  mimeType: 'application/json',
  payTo: `0x${'Aa'.repeat(20)}`,
  maxTimeoutSeconds: 300,
  asset: `0x${'Bb'.repeat(20)}`,
  extra: { name: 'USDC', version: '2', reference: 'chain-1-a' },
};

const challengeOf = (change: Partial<PaymentRequirement>, idempotencyKey: string) => ({
  url: 'https://shop.example/',
  requirement: { ...requirement, ...change },
  fetchedAtMs: 5,
  idempotencyKey,
  signature: 1,
});

describe('the challenges that are stored with a job', () => {
  const first = challengeOf({}, 'first');
  const dearer = challengeOf({ maxAmountRequired: '2000' }, 'dearer');
  const later = challengeOf({ extra: { ...requirement.extra, reference: 'chain-2-b' } }, 'later');
  const details = {
    'challenge-2': writeChallenge(dearer),
    answer: { httpStatus: 200 },
    'challenge-10': writeChallenge(later),
    'challenge-1': writeChallenge(first),
  };

  it('are read as they were written, the newest first', () => {
    expect(listChallenges({ details })).toEqual([
      { number: 10, challenge: later },
      { number: 2, challenge: dearer },
      { number: 1, challenge: first },
    ]);
  });

  it.each([first, dearer, later])('are found by the signed transfer: the $idempotencyKey one', (challenge) => {
    expect(findPaidChallenge({ details }, createPaymentCall(challenge.requirement))).toEqual(challenge);
  });

  it('are not found by a transfer of another amount, of another token, or without a lock', () => {
    const { to, data } = createPaymentCall(requirement);
    expect(findPaidChallenge({ details }, createPaymentCall({ ...requirement, maxAmountRequired: '1' }))).toBeNull();
    expect(findPaidChallenge({ details }, { to: `0x${'cc'.repeat(20)}`, data })).toBeNull();
    expect(findPaidChallenge({ details }, { to, data: data.slice(0, 138) as `0x${string}` })).toBeNull();
  });

  it('store little of the texts of an untrusted server', () => {
    const long = 'x'.repeat(4_000);
    const texts = {
      description: long,
      resource: long,
      mimeType: long,
      extra: { name: long, version: long, reference: 'r' },
    };
    const kept = writeChallenge(challengeOf(texts, 'key'));
    expect(JSON.stringify(kept).length).toBeLessThan(2_000);
    expect(createPaymentCall(parseKeptChallenge(kept).requirement as PaymentRequirement)).toEqual(
      createPaymentCall(challengeOf(texts, 'key').requirement),
    );
  });

  it.each([null, 'text', { url: 'https://shop.example/' }, { ...(writeChallenge(first) as object), requirement: {} }])(
    'are not read from %j',
    (value) => expect(() => parseKeptChallenge(value)).toThrow(),
  );
});

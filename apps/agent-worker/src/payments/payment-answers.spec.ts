import type { SignableRequirement } from '@tollgate/client';
import type { JobRecord, SignedStep } from '@tollgate/journal';
import type { Hex } from '@tollgate/protocol';
import type { PublicClient } from 'viem';

import { sampleLane, sampleSignature } from '../../../../libs/journal/test/sample-jobs.js';
import { waitFor } from '../../../../test/harness/retry.js';
import { writeChallenge } from './kept-challenge.js';
import { PaymentAnswers } from './payment-answers.js';

const BYTES: Hex = `0x${'c0ffee'.repeat(21)}aa1b`;

describe('a signed payment that is past its end', () => {
  const lane = sampleLane();
  /** The final block of the chain: its time, and whether the payment is used there; null: the chain does not answer. */
  let final: { timestamp: bigint; isUsed: boolean } | null;
  let asked: number;
  let requests: number;
  let answers: PaymentAnswers;

  const END = Math.floor(Date.now() / 1000) - 5;
  const planned = sampleSignature(lane.address);
  if (planned.signs.kind !== 'authorization') throw new Error('the sample is an authorization');
  const { token, authorization } = planned.signs;
  const step: SignedStep = {
    ...planned,
    signs: { ...planned.signs, authorization: { ...authorization, validBefore: String(END) } },
    nonce: null,
    attempts: [],
    mined: null,
    skipped: false,
    voided: false,
    signature: { number: 2, signedAtMs: 0, bytes: BYTES },
  };
  const requirement: SignableRequirement = {
    x402Version: 2,
    scheme: 'exact',
    network: 'eip155:1328',
    maxAmountRequired: '1000',
    payTo: authorization.to,
    maxTimeoutSeconds: 60,
    asset: token.asset,
    extra: { name: 'USDC', version: '2' },
    sent: {},
  };
  const challenge = { url: 'http://shop.example/', requirement, fetchedAtMs: 0, idempotencyKey: 'key', signature: 2 };
  const job = {
    id: 'j1',
    lane,
    stepIndex: 0,
    steps: [step],
    details: {
      'challenge-1': writeChallenge({ ...challenge, signature: 1, idempotencyKey: 'of the first' }),
      'challenge-2': writeChallenge(challenge),
    },
  } as unknown as JobRecord;

  const start = (redeemWithinMs: number) => {
    [asked, requests] = [0, 0];
    const client = {
      getBlock: async () => {
        asked += 1;
        if (!final) throw new Error('the chain does not answer');
        return { timestamp: final.timestamp, number: 7n };
      },
      readContract: async () => final!.isUsed,
    } as unknown as PublicClient;
    answers = new PaymentAnswers({
      fetch: async (_, init) => {
        requests += 1;
        expect(new Headers(init?.headers).get('idempotency-key')).toBe('key');
        return new Response('the goods', { headers: { 'PAYMENT-RESPONSE': 'e30=' } });
      },
      journal: { putDetail: async ({ value }) => value },
      readClient: async () => client,
      redeemWithinMs,
      attemptTimeoutMs: 1_000,
      lookEveryMs: 1,
      allowPrivateTargets: true,
    });
  };

  afterEach(() => answers.stop());

  const judge = () => answers.judgeSignature(job, step, { token: 1 });
  const verdict = async () => {
    let found = await judge();
    await waitFor('a verdict', async () => {
      found = await judge();
      return found.outcome !== 'later';
    });
    return found;
  };

  it('is not presented before a final block shows what became of it, and is void where that has not used it', async () => {
    start(600_000);
    final = { timestamp: BigInt(END - 1), isUsed: false };
    await judge();
    await waitFor('some looks', () => asked >= 3);
    expect([await judge(), requests]).toEqual([{ outcome: 'later' }, 0]);
    final = { timestamp: BigInt(END), isUsed: false };
    expect([await verdict(), requests]).toEqual([{ outcome: 'void' }, 0]);
  });

  it('is presented where it was used', async () => {
    start(600_000);
    final = { timestamp: BigInt(END + 60), isUsed: true };
    expect([await verdict(), requests]).toEqual([{ outcome: 'done' }, 1]);
  });

  it('says nothing about the signature that has taken its place while another worker had the lane', async () => {
    start(600_000);
    final = { timestamp: BigInt(END), isUsed: false };
    await judge();
    await waitFor('a verdict that nobody fetches', () => asked === 1);
    const next: SignedStep = {
      ...step,
      signs: { kind: 'authorization', token, authorization: { ...authorization, validBefore: String(END + 600) } },
      signature: { number: 3, signedAtMs: 0, bytes: `0x${'0ddba11e'.repeat(16)}1b` },
    };
    const details = { ...job.details, 'challenge-3': writeChallenge({ ...challenge, signature: 3 }) };
    const judgeNext = () => answers.judgeSignature({ ...job, steps: [next], details }, next, { token: 3 });
    const seen: string[] = [];
    await waitFor('the verdict of the next', async () => {
      seen.push((await judgeNext()).outcome);
      return seen.at(-1) !== 'later';
    });
    expect([seen.at(-1), requests]).toEqual(['done', 1]);
  });

  it('is presented, and never taken for void, where the chain does not answer', async () => {
    start(20);
    final = null;
    expect([await verdict(), requests]).toEqual([{ outcome: 'done' }, 1]);
    expect(asked).toBeGreaterThan(1);
  });
});

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

import type { SpendingPolicy } from '@tollgate/agent-kit/planner';
import { Journal, type JobRecord } from '@tollgate/journal';
import { appendHashLock, type PaymentRequirement } from '@tollgate/protocol';
import { Redis } from 'ioredis';
import { createPublicClient, encodeFunctionData, erc20Abi, http } from 'viem';

import { RECEIVER } from '../../../../libs/journal/test/lane-fixture.js';
import { createPayingWallet } from '../../test/paying-lane.js';
import { PaymentFixture, readAnswer } from '../../test/payment-fixture.js';
import { PlanningTrouble } from '../planning/planning-trouble.js';
import { listChallenges, writeChallenge, type KeptChallenge } from './kept-challenge.js';

type TransferChallenge = KeptChallenge & { requirement: PaymentRequirement };

/** Accepts requests, and answers none. */
async function startSilentServer() {
  let requests = 0;
  const server = createServer(() => requests++);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    requests: () => requests,
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(resolve));
    },
  };
}

describe('a payment job', () => {
  let fixture: PaymentFixture;

  beforeAll(async () => {
    fixture = await PaymentFixture.start();
  });

  afterAll(() => fixture.stop());
  beforeEach(() => fixture.begin());
  afterEach(() => fixture.end());

  const endOf = async (jobId: string): Promise<JobRecord> => (await fixture.lane.waitForEnds([jobId]))[0]!;

  it('pays the requested price, and ends with the answer', async () => {
    const { server, lane } = fixture;
    fixture.startWorker();
    const job = await lane.waitForState(await fixture.submit({ url: server.url }), 'FINAL');
    expect(readAnswer(job)).toEqual({
      httpStatus: 200,
      contentType: 'application/json',
      body: '{"conditions":"Clear","number":1}',
      bodyBase64: null,
      isBodyCut: false,
    });
    const txHash = job.steps[0]!.mined!.hash;
    expect(await fixture.transfers()).toEqual([txHash]);
    const [kept] = listChallenges(job);
    const { requirement, idempotencyKey } = kept!.challenge as TransferChallenge;
    const args = [lane.chain.payTo, 1000n] as const;
    const transfer = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args });
    expect(job.steps[0]).toMatchObject({
      to: lane.chain.asset,
      data: appendHashLock(transfer, requirement.extra.reference),
      value: 0n,
    });
    expect(server.paid()).toMatchObject([
      {
        proof: { payload: { txHash, reference: requirement.extra.reference } },
        headers: { 'idempotency-key': idempotencyKey },
      },
    ]);
  });

  it('pays separately for each of many, and gives each its own answer', async () => {
    fixture.startWorker();
    const urls = Array.from({ length: 20 }, (_, index) => `${fixture.server.url}/${index}`);
    const jobs = await fixture.lane.waitForEnds(await Promise.all(urls.map((url) => fixture.submit({ url }))));
    expect(jobs.map(({ state }) => state)).toEqual(urls.map(() => 'FINAL'));
    expect(new Set(jobs.map((job) => readAnswer(job).body)).size).toBe(urls.length);
    const hashes = jobs.map(({ steps }) => steps[0]!.mined!.hash);
    expect([...(await fixture.transfers())].sort()).toEqual([...hashes].sort());
    const paidFor = new Map(fixture.server.paid().map(({ url, proof }) => [proof!.payload.txHash, url]));
    expect(hashes.map((hash) => `${fixture.server.origin}${paidFor.get(hash)}`)).toEqual(urls);
  });

  it('drafts the same transfer again while its challenge is young, and requests it once', async () => {
    const planner = fixture.createPlanner();
    const { job, token } = await fixture.hold({ url: fixture.server.url });
    const first = await planner.plan(await job(), { token });
    expect(await planner.plan(await job(), { token })).toEqual(first);
    expect(fixture.server.seen).toHaveLength(1);
    expect(Object.keys((await job()).details)).toEqual(['challenge-1']);
  });

  it.each([
    ['is old', { agoMs: 101_000, maxTimeoutSeconds: 300 }],
    ['is from the future', { agoMs: -60_000, maxTimeoutSeconds: 300 }],
    ['has little time left', { agoMs: 5_000, maxTimeoutSeconds: 10 }],
  ])('requests a new challenge when the current one %s', async (_, { agoMs, maxTimeoutSeconds }) => {
    const planner = fixture.createPlanner();
    const { job, token } = await fixture.hold({ url: fixture.server.url });
    await planner.plan(await job(), { token });
    const { challenge } = listChallenges(await job())[0]!;
    const value = writeChallenge({
      ...challenge,
      requirement: { ...challenge.requirement, maxTimeoutSeconds },
      fetchedAtMs: Date.now() - agoMs,
    });
    const { id } = await job();
    await fixture.lane.journal.putDetail({ jobId: id, token, name: 'challenge-2', value });

    const { steps } = (await planner.plan(await job(), { token })).draft;
    const [third] = listChallenges(await job());
    expect(third!.number).toBe(3);
    expect(third!.challenge.idempotencyKey).not.toBe(challenge.idempotencyKey);
    expect(steps[0]!.data).toBe(
      appendHashLock(
        steps[0]!.data.slice(0, 138) as `0x${string}`,
        (third!.challenge as TransferChallenge).requirement.extra.reference,
      ),
    );
    expect(fixture.server.seen).toHaveLength(2);
  });

  it('uses the challenge that another worker stored first', async () => {
    const { job, token } = await fixture.hold({ url: fixture.server.url });
    const seenByBoth = await job();
    const [one, other] = [fixture.createPlanner(), fixture.createPlanner()];
    const drafts = await Promise.all([one.plan(seenByBoth, { token }), other.plan(seenByBoth, { token })]);
    expect(fixture.server.seen).toHaveLength(2);
    expect(drafts[0]).toEqual(drafts[1]);
    expect(Object.keys((await job()).details)).toEqual(['challenge-1']);
  });

  it('stores no challenge for a worker whose lease has ended', async () => {
    const { job, token } = await fixture.hold({ url: fixture.server.url });
    await expect(fixture.createPlanner().plan(await job(), { token: token - 1 })).rejects.toMatchObject({
      code: 'NETWORK_ERROR',
    });
    expect((await job()).details).toEqual({});
  });

  it('is planned again, and not given up, when the journal does not answer', async () => {
    const { job, token } = await fixture.hold({ url: fixture.server.url });
    const redis = new Redis({ port: 1, lazyConnect: true, enableOfflineQueue: false });
    redis.on('error', () => undefined);
    const { chain, lane } = fixture.lane;
    const away = { rpcUrl: chain.rpcUrl, address: lane.address, journal: new Journal({ redis }) };
    const { wallet, payments } = createPayingWallet(away);
    const planned = wallet.plan(await job(), { stepIndex: 0, token });
    await expect(planned).rejects.toMatchObject({ code: 'NETWORK_ERROR' });
    await payments.stop();
    redis.disconnect();
  });

  it('compares every new price with its maximum', async () => {
    const planner = fixture.createPlanner();
    const { job, token } = await fixture.hold({ url: fixture.server.url, maxAmount: '0.001' });
    await planner.plan(await job(), { token });
    const { id, details } = await job();
    const { challenge } = listChallenges({ details })[0]!;
    const value = writeChallenge({ ...challenge, fetchedAtMs: 0 });
    await fixture.lane.journal.putDetail({ jobId: id, token, name: 'challenge-2', value });
    fixture.server.challenge = { maxAmountRequired: '1001' };
    await expect(planner.plan(await job(), { token })).rejects.toMatchObject({ code: 'POLICY_VIOLATION' });
  });

  it.each([
    ['no more than its maxAmount', '0.0009'],
    ['no more than a cent by default', undefined],
  ])('pays %s', async (_, maxAmount) => {
    if (maxAmount === undefined) fixture.server.challenge = { maxAmountRequired: '10001' };
    fixture.startWorker();
    const job = await endOf(await fixture.submit({ url: fixture.server.url, ...(maxAmount && { maxAmount }) }));
    expect(job).toMatchObject({ state: 'PLAN_FAILED', failure: { code: 'POLICY_VIOLATION' }, details: {} });
    expect(await fixture.transfers()).toEqual([]);
  });

  it.each<[string, SpendingPolicy, string]>([
    ['the operation', { operations: ['transfer'] }, 'POLICY_VIOLATION'],
    ['the receiver', { recipients: [RECEIVER] }, 'POLICY_VIOLATION'],
    ['the token', { contracts: [RECEIVER] }, 'POLICY_VIOLATION'],
    ['the amount', { maxPerOperation: { USDC: '0.0009' } }, 'POLICY_VIOLATION'],
    ['the amount for one day', { maxPerDay: { USDC: '0.0009' } }, 'DAILY_LIMIT'],
  ])('pays nothing where the policy of the wallet forbids %s', async (_, policy, code) => {
    fixture.startWorker({}, policy);
    expect(await endOf(await fixture.submit({ url: fixture.server.url }))).toMatchObject({
      state: 'PLAN_FAILED',
      failure: { code },
    });
    expect(await fixture.transfers()).toEqual([]);
  });

  it('pays within the policy of the wallet', async () => {
    const { asset, payTo } = fixture.lane.chain;
    const limits = { maxPerOperation: { USDC: '0.001' }, maxPerDay: { USDC: '0.001' } };
    fixture.startWorker({}, { operations: ['payment'], recipients: [payTo], contracts: [asset], ...limits });
    await fixture.lane.waitForState(await fixture.submit({ url: fixture.server.url }), 'FINAL');
    const second = await endOf(await fixture.submit({ url: fixture.server.url }));
    expect(second.failure?.code).toBe('DAILY_LIMIT');
    expect(await fixture.transfers()).toHaveLength(1);
  });

  it('requests no price while the lane is paused', async () => {
    const { job, token } = await fixture.hold({ url: fixture.server.url });
    const failure = { code: 'PAUSED', message: 'Paused.', suggestion: 'Wait.' };
    await fixture.lane.journal.pauseLane(fixture.lane.lane, failure);
    await expect(fixture.createPlanner().plan(await job(), { token })).rejects.toMatchObject({ code: 'NETWORK_ERROR' });
    expect(fixture.server.seen).toEqual([]);
  });

  it.each([
    ['is paused', true, 0],
    ['has gone to another worker', false, 1],
  ])('waits without a time limit while the lane %s, though the node answers', async (_, isPaused, age) => {
    const { job, token } = await fixture.hold({ url: fixture.server.url });
    const { chain, journal, lane } = fixture.lane;
    if (isPaused) await journal.pauseLane(lane, { code: 'PAUSED', message: 'Paused.', suggestion: 'Wait.' });
    const planning = fixture.createPlanner().plan(await job(), { token: token - age });
    const error: unknown = await planning.catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'NETWORK_ERROR' });
    const client = createPublicClient({ transport: http(chain.rpcUrl) });
    const kit = { canPayForGas: () => Promise.resolve(true), client };
    const trouble = new PlanningTrouble(kit, { waitingMs: 0, holdingNonceMs: 0 });
    expect(await trouble.explain(await job(), error)).toBe(error);
  });

  describe('for a server that does not answer', () => {
    const plan = async (patienceMs: number, change: Partial<JobRecord> = {}) => {
      const planner = fixture.createPlanner({ patienceMs, priceTimeoutMs: 2_000 });
      const { job, token } = await fixture.hold({ url: fixture.server.url });
      await fixture.server.close();
      return planner.plan({ ...(await job()), ...change }, { token });
    };

    it('waits', () => expect(plan(60_000)).rejects.toMatchObject({ code: 'NETWORK_ERROR' }));
    it('gives up within its time limit', () => expect(plan(0)).rejects.toMatchObject({ code: 'PAYMENT_FAILED' }));
    it('gives up at once when later transactions wait behind its nonce', () =>
      expect(plan(60_000, { state: 'RESERVED' })).rejects.toMatchObject({ code: 'PAYMENT_FAILED' }));
  });

  it('has a dry run that writes and sends nothing', async () => {
    const draft = await fixture.createPlanner().dryRun({ url: fixture.server.url });
    expect(draft).toMatchObject({
      spends: [{ amountBaseUnits: 1000n, token: { symbol: 'USDC' } }],
      recipients: [expect.stringMatching(new RegExp(`^${fixture.lane.chain.payTo}$`, 'i'))],
      steps: [{ label: expect.stringMatching(/^Pay 0\.001 USDC to 0x/) as string, to: fixture.lane.chain.asset }],
    });
    expect(await fixture.lane.listJobs()).toEqual([]);
  });

  it('asks the price of a job while dry runs wait for servers that do not answer', async () => {
    const silent = await Promise.all([startSilentServer(), startSilentServer()]);
    const planner = fixture.createPlanner();
    const { job, token } = await fixture.hold({ url: fixture.server.url });
    const runs = Array.from({ length: 40 }, (_, index) => planner.dryRun({ url: silent[index % 2]!.url }));
    const settled = Promise.allSettled(runs);
    await expect(Promise.race(runs)).rejects.toMatchObject({ code: 'NETWORK_ERROR' });
    const { draft } = await planner.plan(await job(), { token });
    expect(draft.spends).toMatchObject([{ amountBaseUnits: 1000n }]);
    expect(silent[0].requests() + silent[1].requests()).toBe(8);
    await Promise.all(silent.map((server) => server.close()));
    await settled;
  });

  it('refuses a limit finer than the token', async () => {
    const input = { url: fixture.server.url, maxAmount: '0.0010000001' };
    await expect(fixture.createPlanner().dryRun(input)).rejects.toMatchObject({ code: 'INVALID_INPUT' });
  });

  it.each([
    ['no url', {}],
    ['an empty url', { url: '' }],
    ['a number for an amount', { url: 'https://shop.example/', maxAmount: 1 }],
    ['a negative amount', { url: 'https://shop.example/', maxAmount: '-1' }],
    ['a nonce', { url: 'https://shop.example/', nonce: 7 }],
    ['a password', { url: 'https://user:canary@shop.example/' }],
  ])('refuses %s', async (_, input) => {
    await expect(fixture.createPlanner().dryRun(input)).rejects.toMatchObject({ code: 'INVALID_INPUT' });
  });
});

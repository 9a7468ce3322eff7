import { Logger } from '@nestjs/common';
import { WalletDirectory, writeStoredPlan } from '@tollgate/agent-jobs';
import type { ApiKeyScope } from '@tollgate/http';
import { createLaneId, Journal, RELAYER_FLEET, type LaneId } from '@tollgate/journal';
import type { OperatorJob, OperatorJobPage, OperatorWallet, Trouble } from '@tollgate/operator-api';

import { hashIdempotencyKey, idempotencyKey } from '../../../../libs/journal/src/jobs/keys.js';
import { mineSample, planSample, sampleStep, spoilJob } from '../../../../libs/journal/test/sample-jobs.js';
import { waitFor } from '../../../../test/harness/retry.js';
import { BookkeeperFixture, type StartedBookkeeper } from '../../test/bookkeeper-fixture.js';

const LANE = createLaneId(1328, `0x${'ab'.repeat(20)}`);
const RELAYER = createLaneId(1328, `0x${'cd'.repeat(20)}`);
const FLOORS = { spends: {}, receives: {}, recipients: [] };
const PLAN = {
  summary: 'Send 0.5',
  preview: 'Send 0.5',
  spends: [],
  receives: [],
  recipients: [],
  warnings: [],
  slippageBps: null,
  floorsHash: 'floors-1',
  needsApproval: true,
};

describe('the operator API for jobs and accounts', () => {
  let fixture: BookkeeperFixture;
  let bookkeeper: StartedBookkeeper;
  let journal: Journal;
  let token: number;
  const tokens: Partial<Record<ApiKeyScope, string>> = {};

  beforeAll(async () => {
    Logger.overrideLogger(false);
    fixture = await BookkeeperFixture.start();
    journal = await adopt(LANE);
    // A verifier that was killed: its lease has come to its end, and stands there.
    await (await adopt(RELAYER, RELAYER_FLEET)).takeLease(RELAYER, 'killed', 1);
    token = (await journal.takeLease(LANE, 'worker', 600_000))!.token;
    const directory = new WalletDirectory(fixture.redis);
    await directory.publish({ name: 'main', lane: LANE });
    const limit = { asset: 'native', symbol: 'SEI', decimals: 18, perOperation: null, approvalAbove: '5' };
    await directory.publishLimits('main', [{ ...limit, perDay: '100' }]);
    for (const scope of ['operator:read', 'operator:approve', 'operator:wallets'] as const)
      tokens[scope] = await fixture.createToken(scope);
    bookkeeper = await fixture.startBookkeeper();
    await waitFor('the book is open', async () => (await ask('/operator/health')).status === 200);
  });

  afterAll(() => fixture.stop());

  async function adopt(lane: LaneId, fleet?: string): Promise<Journal> {
    const opened = new Journal({ redis: fixture.redis, ...(fleet !== undefined && { fleet }) });
    await opened.open();
    await opened.adopt(lane, { pendingNonce: 0 });
    return opened;
  }

  function ask(path: string, init: { post?: unknown; token?: string } = {}): Promise<Response> {
    const scope = !('post' in init)
      ? 'operator:read'
      : /pause|resume|fill/.test(path)
        ? 'operator:wallets'
        : 'operator:approve';
    const headers = { Authorization: `Bearer ${init.token ?? tokens[scope]}` };
    if (!('post' in init)) return fetch(`${bookkeeper.url}${path}`, { headers });
    return fetch(`${bookkeeper.url}${path}`, {
      method: 'POST',
      headers: { ...headers, ...(init.post !== undefined && { 'Content-Type': 'application/json' }) },
      ...(init.post !== undefined && { body: JSON.stringify(init.post) }),
    });
  }

  const read = async <T>(path: string): Promise<T> => (await ask(path)).json() as Promise<T>;
  const post = async (path: string, body?: unknown, bearer?: string) => {
    const response = await ask(path, { post: body, ...(bearer !== undefined && { token: bearer }) });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };

  let submitted = 0;
  async function submit(keyId = 'key-1'): Promise<string> {
    const result = await journal.submit({
      lane: LANE,
      operation: 'transfer',
      wallet: 'main',
      input: { amount: '0.5', to: RELAYER.address },
      keyId,
      idempotencyKey: `job-${++submitted}`,
      fingerprint: `print-${submitted}`,
    });
    if (result.outcome !== 'accepted') throw new Error(`not accepted: ${JSON.stringify(result)}`);
    return result.jobId;
  }

  async function awaitApproval(jobId: string, floorsHash = PLAN.floorsHash): Promise<void> {
    const plan = { plan: writeStoredPlan({ ...PLAN, floorsHash }, FLOORS), floorsHash, needsApproval: true };
    await journal.putPlan({ jobId, stepIndex: 0, token, steps: [sampleStep()], ...plan });
  }

  it('lists every job once, page by page, and by state', async () => {
    const ids = [await submit(), await submit(), await submit()];
    await journal.cancel(ids[1]!);
    const seen: string[] = [];
    for (let cursor: string | null = ''; cursor !== null;) {
      const page: OperatorJobPage = await read(`/operator/jobs?limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`);
      seen.push(...page.jobs.map(({ id }) => id));
      ({ cursor } = page);
    }
    expect(seen).toEqual(ids.toReversed());
    const { jobs } = await read<OperatorJobPage>('/operator/jobs?state=CANCELLED&wallet=main');
    expect(jobs).toMatchObject([{ id: ids[1], keyId: 'key-1', address: LANE.address, planDigest: null, calls: [] }]);
    expect((await ask('/operator/jobs?cursor=nothing')).status).toBe(400);
    expect((await ask('/operator/jobs/j00000000-000000000000000000000000')).status).toBe(404);
  });

  it('names a job that cannot be read, in the list and as a trouble, and lists the others', async () => {
    const [unreadable, other] = [await submit(), await submit()];
    const mend = await spoilJob(fixture.redis, LANE, unreadable);
    const errors = jest.spyOn(Logger.prototype, 'error');
    for (let turn = 0; turn < 2; turn++) {
      const page = await read<OperatorJobPage>('/operator/jobs?state=PLANNED');
      expect(page.jobs.map(({ id }) => id)).toContain(other);
      expect(page.unreadable).toEqual([unreadable]);
    }
    expect(errors).toHaveBeenCalledTimes(1);
    errors.mockRestore();
    const { troubles } = await read<{ troubles: Trouble[] }>('/operator/health');
    expect(troubles.filter(({ about }) => about === 'jobs')).toEqual([
      { about: 'jobs', what: expect.stringContaining(unreadable), mend: expect.any(String) },
    ]);
    await mend();
    expect(await read('/operator/jobs')).not.toHaveProperty('unreadable');
  });

  it('approves exactly the plan that was reviewed, and no other', async () => {
    const jobId = await submit();
    await awaitApproval(jobId);
    const reviewed = await read<OperatorJob>(`/operator/jobs/${jobId}`);
    const { to, data } = sampleStep();
    expect(reviewed).toMatchObject({ state: 'AWAITING_APPROVAL', calls: [{ to, data }] });
    await awaitApproval(jobId, 'floors-2');
    const refused = await post(`/operator/jobs/${jobId}/approve`, { plan: reviewed.planDigest });
    expect(refused).toMatchObject({ status: 409, body: { code: 'plan_changed', planDigest: expect.any(String) } });
    expect(refused.body['planDigest']).not.toBe(reviewed.planDigest);
    for (let turn = 0; turn < 2; turn++) {
      const approved = await post(`/operator/jobs/${jobId}/approve`, { plan: refused.body['planDigest'] });
      expect(approved).toMatchObject({ status: 200, body: { state: 'PLANNED', approval: { floorsHash: 'floors-2' } } });
    }
    expect((await post(`/operator/jobs/${jobId}/approve`, { plan: 'floors-2' })).status).toBe(400);
  });

  it('does not let a key approve the job that it submitted', async () => {
    const bearer = await fixture.createToken('operator:approve');
    const jobId = await submit(bearer.split('_')[1]);
    await awaitApproval(jobId);
    const { planDigest } = await read<OperatorJob>(`/operator/jobs/${jobId}`);
    const refused = await post(`/operator/jobs/${jobId}/approve`, { plan: planDigest }, bearer);
    expect(refused).toMatchObject({ status: 403, body: { code: 'own_job' } });
  });

  it('cancels a job once, and says when it is too late', async () => {
    const jobId = await submit();
    for (let turn = 0; turn < 2; turn++)
      expect(await post(`/operator/jobs/${jobId}/cancel`)).toMatchObject({ status: 200, body: { state: 'CANCELLED' } });
    const mined = await submit();
    await planSample(journal, { jobId: mined, stepIndex: 0, token });
    await mineSample(journal, { jobId: mined, stepIndex: 0, token });
    expect(await post(`/operator/jobs/${mined}/cancel`)).toMatchObject({ status: 409, body: { code: 'job_state' } });
  });

  it('repeats a failed job once, and no other', async () => {
    const jobId = await submit();
    expect(await post(`/operator/jobs/${jobId}/retry`)).toMatchObject({ status: 409, body: { code: 'job_state' } });
    await journal.cancel(jobId);
    const [first, second] = [await post(`/operator/jobs/${jobId}/retry`), await post(`/operator/jobs/${jobId}/retry`)];
    expect(first).toMatchObject({ status: 200, body: { state: 'PLANNED', retryOf: jobId, keyId: 'key-1' } });
    expect(second.body['id']).toBe(first.body['id']);
  });

  it('repeats no job of an API key that is revoked, and shows what was repeated before', async () => {
    const [jobId, repeated] = [await submit(), await submit()];
    for (const id of [jobId, repeated]) await journal.cancel(id);
    const first = await post(`/operator/jobs/${repeated}/retry`);
    const { keyId } = (await journal.readJob(jobId))!;
    await fixture.redis.hset('tollgate:{api-keys}:revoked', keyId, Date.now());
    // As where an earlier call was refused, or killed, before it made a job.
    await fixture.redis.set(idempotencyKey(hashIdempotencyKey(keyId, `retry-1-of-${jobId}`)), 'claimed');
    try {
      const { status, body } = await post(`/operator/jobs/${jobId}/retry`);
      expect([status, body]).toMatchObject([409, { code: 'job_state', detail: expect.stringContaining('is revoked') }]);
      const second = await post(`/operator/jobs/${repeated}/retry`);
      expect(second).toMatchObject({ status: 200, body: { id: first.body['id'] } });
    } finally {
      await fixture.redis.hdel('tollgate:{api-keys}:revoked', keyId);
    }
  });

  it('shows the accounts, and what is left of their limits', async () => {
    const { wallets } = await read<{ wallets: OperatorWallet[] }>('/operator/wallets');
    const limits = [{ asset: 'native', perDay: '100', leftToday: '100', approvalAbove: '5' }];
    expect(wallets).toMatchObject([
      {
        role: 'wallet',
        name: 'main',
        ...LANE,
        heldBy: 'worker',
        balanceWei: null,
        tokenBalance: null,
        refundable: null,
        paused: null,
        gap: null,
        limits,
      },
      { role: 'relayer', name: null, ...RELAYER, nextNonce: 0, heldBy: null, limits: null },
    ]);
  });

  it.each([
    ['wallets/main', LANE, undefined],
    [`relayers/${RELAYER.address}`, RELAYER, RELAYER_FLEET],
  ])('pauses and resumes %s', async (path, lane, fleet) => {
    const opened = new Journal({ redis: fixture.redis, ...(fleet !== undefined && { fleet }) });
    const paused = await post(`/operator/${path}/pause`, { reason: 'an audit' });
    expect(paused).toMatchObject({ status: 200, body: { paused: { message: 'an audit' } } });
    expect((await opened.readLane(lane)).paused).toMatchObject({ code: 'PAUSED_BY_OPERATOR', message: 'an audit' });
    const { troubles } = await read<{ troubles: object[] }>('/operator/health');
    expect(troubles).toContainEqual(expect.objectContaining({ what: 'The account is paused: an audit' }));
    expect(await post(`/operator/${path}/resume`)).toMatchObject({ status: 200, body: { paused: null } });
  });

  it('fills the nonce that a wallet waits for, once, after a dry run', async () => {
    const fill = (body: object, name = 'main') => post(`/operator/wallets/${name}/fill`, body);
    const jobId = await submit();
    const write = { jobId, stepIndex: 0, token };
    await planSample(journal, write);
    await journal.finishStep({ ...write, blockHash: await mineSample(journal, write) });
    const { nonce } = (await journal.readJob(jobId))!.steps[0]!;
    expect(await fill({ nonce })).toMatchObject({ status: 409, body: { code: 'nonce_not_unused', gap: null } });
    await journal.noteGap(LANE, { token, nonce });
    const [{ gap }] = (await read<{ wallets: [OperatorWallet] }>('/operator/wallets')).wallets;
    expect(gap).toMatchObject({ nonce, isUnheld: false, job: { id: jobId, state: 'FINAL', operation: 'transfer' } });
    const { troubles } = await read<{ troubles: Trouble[] }>('/operator/health');
    expect(troubles).toContainEqual(expect.objectContaining({ mend: 'tollgate wallets fill main' }));

    expect(await fill({ nonce, dryRun: true })).toEqual({ status: 200, body: { gap, jobId: null } });
    expect(await fill({ nonce: nonce! + 1 })).toMatchObject({ status: 409, body: { gap } });
    const filled = await fill({ nonce });
    expect(filled).toMatchObject({ status: 200, body: { gap } });
    const id = String(filled.body['jobId']);
    expect(await read(`/operator/jobs/${id}`)).toMatchObject({
      operation: 'fillNonce',
      input: { nonce, hadBy: jobId },
    });
    expect(await fill({ nonce })).toMatchObject({ status: 409, body: { gap: null } });
    expect((await fill({ nonce }, 'other')).status).toBe(404);
    expect((await fill({ nonce: '7' })).status).toBe(400);
    await journal.endFill({ jobId: id, stepIndex: 0, token, failure: { code: 'X', message: 'x', suggestion: 'x' } });
    expect(await post(`/operator/jobs/${id}/retry`)).toMatchObject({ status: 409, body: { code: 'job_state' } });
  });

  it('answers 404 for an account that there is not, and 400 for a reason that is none', async () => {
    for (const path of ['wallets/other', 'relayers/0x12', `relayers/${LANE.address}`])
      expect(await post(`/operator/${path}/pause`)).toMatchObject({ status: 404, body: { code: 'wallet_not_found' } });
    expect((await post('/operator/wallets/main/pause', { reason: '' })).status).toBe(400);
    expect((await post('/operator/wallets/main/pause', { why: 'x' })).status).toBe(400);
  });

  it('says in words what is wrong, with the command that mends it', async () => {
    const health = await read<{ well: boolean; troubles: object[] }>('/operator/health');
    expect(health.well).toBe(false);
    expect(health.troubles).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ about: 'chain', mend: expect.stringContaining('RPC_URL') }),
        expect.objectContaining({ about: 'book', mend: expect.stringContaining('BOOK=on') }),
        expect.objectContaining({ about: RELAYER.address, mend: 'Start a verifier that has its key.' }),
        expect.objectContaining({ about: 'jobs', mend: 'tollgate jobs list --state AWAITING_APPROVAL' }),
      ]),
    );
  });
});

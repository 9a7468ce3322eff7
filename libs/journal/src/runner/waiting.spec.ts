import type { Hex } from '@tollgate/protocol';
import { parseTransaction } from 'viem';

import { refuseCalls, type RpcCall } from '../../../../test/harness/network/rpc-proxy.js';
import { waitFor } from '../../../../test/harness/retry.js';
import { useProxiedLanes } from '../../test/lane-fixture.js';
import { FAILURE } from '../../test/sample-jobs.js';
import { TEST_POLICY, transferPlanner } from '../../test/transfer-planner.js';
import type { JobRecord, JobWait } from '../jobs/job.js';
import { laneKey } from '../jobs/keys.js';
import type { JobPlan } from '../jobs/ports.js';
import type { LaneSettings } from '../lanes/lane-settings.js';
import type { LaneRunnerOptions } from './lane-runner.js';

const GWEI = 10n ** 9n;
const hex = (value: bigint) => `0x${value.toString(16)}`;

describe('a job that stands still', () => {
  const { fixture, proxy } = useProxiedLanes({ path: '/v1/key-of-the-operator' });

  beforeEach(async () => {
    await mineAt(GWEI);
  });

  const mineAt = async (baseFee: bigint) => {
    await fixture.rpc('anvil_setNextBlockBaseFeePerGas', [hex(baseFee)]);
    await fixture.rpc('evm_mine');
  };
  const start = (settings: Partial<LaneSettings> = {}, options: Partial<LaneRunnerOptions> = {}) =>
    fixture.startRunner({ waitingAfterMs: 30, ...settings }, { rpcUrls: [proxy.rpcUrl], ...options });
  /** A planner whose plans have this too. */
  const planWith = (more: Partial<JobPlan>): Partial<LaneRunnerOptions> => ({
    planner: {
      plan: async (...asked) => ({ ...(await transferPlanner.plan(...asked)), ...more }),
      policy: TEST_POLICY,
    },
  });
  const refuse = (method: string, message: string) =>
    proxy.intercept(
      '*',
      refuseCalls(fixture.chain.rpcUrl, (call) => (call.method === method ? message : null)),
    );
  /** Answers calls of the method with this result. */
  const answer = (method: string, result: unknown) =>
    proxy.intercept('*', async (call, forward) => {
      const asked = [call as RpcCall | RpcCall[]].flat();
      const answers = [JSON.parse(await forward()) as object | object[]].flat();
      return {
        body: JSON.stringify(answers.map((one, at) => (asked[at]?.method === method ? { ...one, result } : one))),
      };
    });
  const cutOff = (method: string) =>
    proxy.intercept('*', async (call, forward) =>
      JSON.stringify(call).includes(method) ? 'broken' : { body: await forward() },
    );
  const waitForCode = async (jobId: string, code: JobWait['code']): Promise<JobRecord & { waiting: JobWait }> => {
    await waitFor(`job ${jobId} waits: ${code}`, async () => (await fixture.readJob(jobId)).waiting?.code === code);
    const job = await fixture.readJob(jobId);
    if (job.waiting === null) throw new Error('it waits no more');
    expect(job.waiting.sinceMs).toBeLessThanOrEqual(Date.now());
    expect(job.waiting.sinceMs).toBeGreaterThanOrEqual(job.submittedAtMs);
    expect(JSON.stringify(job.waiting)).not.toContain('key-of-the-operator');
    return { ...job, waiting: job.waiting };
  };
  /** The codes of the events that report for what a job waits, in order. */
  const listReported = async (jobId: string) => {
    const events = (await fixture.readEvents()).filter((event) => event.jobId === jobId);
    return events.filter(({ type }) => type === 'transactionWaiting').map(({ error }) => error?.code);
  };
  const expectEnd = async (jobId: string, codes: readonly string[]) => {
    expect((await fixture.waitForState(jobId, 'FINAL')).waiting).toBeNull();
    expect(await listReported(jobId)).toEqual(codes);
  };

  it('says what the chain asks and the caps, and a later one names it', async () => {
    await fixture.rpc('evm_setAutomine', [false]);
    const [first, later] = [await fixture.submit(), await fixture.submit()];
    start({ maxFeePerGas: 4n * GWEI, replaceAfterMs: 50, resendAfterMs: 50 });
    await fixture.waitForState(first, 'BROADCAST');
    await fixture.waitForState(later, 'BROADCAST');
    await mineAt(20n * GWEI);
    const ids = (await fixture.journal.readInFlight(fixture.lane)).map(({ jobId }) => jobId);
    const { waiting } = await waitForCode(ids[0]!, 'fee_above_cap');
    expect(waiting.message).toMatch(
      /offers [\d.]+ gwei per gas, and the chain asks for [\d.]+\. .* 4 gwei in all \(MAX_FEE_GWEI\)/,
    );
    await waitFor('both say why', async () => (await fixture.readJob(ids[1]!)).waiting !== null);
    await fixture.rpc('evm_setAutomine', [true]);
    await mineAt(GWEI);
    for (const jobId of ids) await fixture.waitForState(jobId, 'FINAL');
    expect(await listReported(ids[0]!)).toEqual(['fee_above_cap']);
  });

  it('quotes the refusal of the RPC server without addresses', async () => {
    refuse('eth_sendRawTransaction', 'disabled\nfor you, see https://rpc.example/key-of-the-operator');
    const jobId = await fixture.submit();
    start();
    const { waiting, state } = await waitForCode(jobId, 'rpc_refuses');
    expect([state, waiting.message]).toEqual([
      'SIGNED',
      'No RPC server takes the transaction now: "disabled for you, see …".',
    ]);
    proxy.reset();
    await expectEnd(jobId, ['rpc_refuses']);
  });

  it('names the method that the RPC server refuses before anything is signed', async () => {
    refuse('eth_getTransactionCount', 'daily quota exceeded');
    const jobId = await fixture.submit();
    start();
    const { waiting } = await waitForCode(jobId, 'rpc_refuses');
    expect(waiting.message).toBe('eth_getTransactionCount failed with code -32000: "daily quota exceeded".');
    proxy.reset();
    await expectEnd(jobId, ['rpc_refuses']);
  });

  it('says that no RPC server can be reached, for sending or at all', async () => {
    cutOff('eth_sendRawTransaction');
    const jobId = await fixture.submit();
    start();
    expect((await waitForCode(jobId, 'rpc_unreachable')).state).toBe('SIGNED');
    await fixture.rpc('evm_setAutomine', [false]);
    proxy.reset();
    await waitFor('it waits for a block only', async () => (await fixture.readJob(jobId)).waiting === null);
    cutOff('eth_');
    expect((await waitForCode(jobId, 'rpc_unreachable')).state).toBe('BROADCAST');
    proxy.reset();
    await fixture.rpc('evm_mine');
    await expectEnd(jobId, ['rpc_unreachable']);
  });

  it('says that the receipt of a used nonce is missing', async () => {
    answer('eth_getTransactionReceipt', null);
    const jobId = await fixture.submit();
    start({ nonceDoubtMs: 600_000 });
    expect((await waitForCode(jobId, 'rpc_lags')).waiting.message).toMatch(/nonce 41 /);
    proxy.reset();
    await expectEnd(jobId, ['rpc_lags']);
  });

  it('says that the RPC server is on another chain', async () => {
    answer('eth_chainId', '0x1');
    const jobId = await fixture.submit();
    start();
    expect((await waitForCode(jobId, 'chain_differs')).waiting.message).toMatch(/is on chain 1, not on \d+/);
    proxy.reset();
    await expectEnd(jobId, ['chain_differs']);
  });

  it('names the earlier job whose transaction must be mined first', async () => {
    const [first, later] = [await fixture.submit(), await fixture.submit()];
    proxy.intercept(
      '*',
      refuseCalls(fixture.chain.rpcUrl, ({ method, params: [raw] }) =>
        method === 'eth_sendRawTransaction' && parseTransaction(raw as Hex).nonce === 41 ? 'not now' : null,
      ),
    );
    start({ resendAfterMs: 50, jobsAtOnce: 1 });
    await waitForCode(first, 'rpc_refuses');
    expect((await waitForCode(later, 'earlier_job')).waiting.message).toContain(
      `job ${first} has an earlier nonce (41)`,
    );
    proxy.reset();
    await expectEnd(first, ['rpc_refuses']);
    await expectEnd(later, ['earlier_job']);
  });

  it('names the nonce that nothing has', async () => {
    start({ nonceDoubtBlocks: 2, resendAfterMs: 50 });
    await fixture.waitForState(await fixture.submit(), 'FINAL');
    await fixture.rpc('evm_setAutomine', [false]);
    await fixture.rpc('anvil_reorg', [1, []]);
    await fixture.rpc('anvil_dropAllTransactions');
    const later = await fixture.submit();
    await fixture.waitForState(later, 'BROADCAST');
    await fixture.rpc('anvil_mine', ['0x3']);
    expect((await waitForCode(later, 'nonce_gap')).waiting.message).toMatch(/nonce 41 /);
    expect(await listReported(later)).toEqual(['nonce_gap']);
  });

  it('says that the wallet is empty, whether it has a nonce or not', async () => {
    await fixture.setBalance(0n);
    const jobIds = [await fixture.submit(), await fixture.submit()];
    start({ jobsAtOnce: 1 });
    for (const jobId of jobIds) await waitForCode(jobId, 'balance');
    const states = await Promise.all(jobIds.map(async (jobId) => (await fixture.readJob(jobId)).state));
    expect(states.sort()).toEqual(['PLANNED', 'SIGNED']);
    await fixture.setBalance(10n ** 20n);
    for (const jobId of jobIds) await expectEnd(jobId, ['balance']);
  });

  it('says that its plan needs an approval', async () => {
    const jobId = await fixture.submit();
    start({ waitingAfterMs: 600_000 }, planWith({ needsApproval: true }));
    const { approval } = await waitForCode(jobId, 'approval');
    await fixture.journal.approve({ jobId, floorsHash: approval!.floorsHash, approvedBy: 'lead' });
    await expectEnd(jobId, ['approval']);
  });

  it('says that as many transactions as allowed are on their way', async () => {
    await fixture.rpc('evm_setAutomine', [false]);
    const first = await fixture.submit();
    start({ maxInFlight: 1 });
    await fixture.waitForState(first, 'BROADCAST');
    const later = await fixture.submit();
    expect((await waitForCode(later, 'in_flight_limit')).waiting.message).toMatch(/\(1\)/);
    await fixture.rpc('evm_setAutomine', [true]);
    await fixture.rpc('evm_mine');
    await expectEnd(first, []);
    await expectEnd(later, ['in_flight_limit']);
  });

  it('names the job whose allowance it waits for', async () => {
    await fixture.rpc('evm_setAutomine', [false]);
    const first = await fixture.submit();
    start({}, planWith({ locks: ['one'] }));
    await fixture.waitForState(first, 'BROADCAST');
    const later = await fixture.submit();
    expect((await waitForCode(later, 'allowance')).waiting.message).toContain(first);
    await fixture.rpc('evm_setAutomine', [true]);
    await fixture.rpc('evm_mine');
    await expectEnd(later, ['allowance']);
  });

  it('says that an operator has paused the wallet, or that it is frozen', async () => {
    await fixture.journal.pauseLane(fixture.lane, FAILURE);
    const jobId = await fixture.submit();
    start();
    expect((await waitForCode(jobId, 'wallet_paused')).waiting).toMatchObject({ ...FAILURE, code: 'wallet_paused' });
    await fixture.redis.hset(laneKey(fixture.lane), 'frozen', 'chain_ahead');
    await waitForCode(jobId, 'wallet_frozen');
    await fixture.redis.hdel(laneKey(fixture.lane), 'frozen', 'paused');
    await expectEnd(jobId, ['wallet_paused', 'wallet_frozen']);
  });

  it('says that it is not known yet what came of its transaction', async () => {
    let isKnown = false;
    const jobId = await fixture.submit();
    start({}, { judgeStep: () => Promise.resolve({ outcome: isKnown ? 'done' : 'later' }) });
    expect((await waitForCode(jobId, 'answer')).state).toBe('MINED');
    isKnown = true;
    await expectEnd(jobId, ['answer']);
  });

  it('says nothing of what passes soon, and costs Redis no command then', async () => {
    start({ waitingAfterMs: 600_000 });
    const jobId = await fixture.submit();
    await expectEnd(jobId, []);
    expect(
      (await fixture.redis.hkeys(`tollgate:{${fixture.lane.chainId}:${fixture.lane.address}}:job:${jobId}`)).filter(
        (name) => name.startsWith('wait'),
      ),
    ).toEqual([]);
  });
});

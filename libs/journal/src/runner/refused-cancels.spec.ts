import type { Hex } from '@tollgate/protocol';
import { parseTransaction } from 'viem';

import { refuseCalls, type RpcCall } from '../../../../test/harness/network/rpc-proxy.js';
import { waitFor } from '../../../../test/harness/retry.js';
import { useProxiedLanes } from '../../test/lane-fixture.js';
import { markOf } from '../../test/transfer-planner.js';

/** More than a block has. */
const TOO_MUCH_GAS = '4000000000';

describe('a cancel that every RPC server refuses', () => {
  const { fixture, proxy } = useProxiedLanes();

  const start = () =>
    fixture.startRunner({ waitingAfterMs: 30, resendAfterMs: 100, planRetryMs: 20 }, { rpcUrls: [proxy.rpcUrl] });
  /** The gas that the call offers for a cancel; null: it sends none. */
  const gasOfCancel = ({ method, params }: RpcCall): bigint | null => {
    if (method !== 'eth_sendRawTransaction') return null;
    const { to, gas } = parseTransaction(params[0] as Hex);
    return to?.toLowerCase() === fixture.lane.address ? gas! : null;
  };
  /** `estimate`: what the chain says that a transfer takes, in place of 21,000. */
  const refuse = (isRefused: (call: RpcCall) => boolean, estimate?: bigint) => {
    const refusal = refuseCalls(fixture.chain.rpcUrl, (call) => (isRefused(call) ? 'intrinsic gas too low' : null));
    proxy.intercept('*', async (call, forward) => {
      const { body } = (await refusal(call, forward)) as { body: string };
      return { body: estimate === undefined ? body : body.replaceAll('"0x5208"', `"0x${estimate.toString(16)}"`) };
    });
  };
  const readAttempts = async (jobId: string) => (await fixture.readJob(jobId)).steps[0]?.attempts ?? [];

  const cancelInPool = async (): Promise<{ jobId: string; runner: ReturnType<typeof start> }> => {
    await fixture.rpc('evm_setAutomine', [false]);
    refuse((call) => gasOfCancel(call) !== null);
    const jobId = await fixture.submit();
    const runner = start();
    await fixture.waitForState(jobId, 'BROADCAST');
    await fixture.journal.cancel(jobId);
    runner.wake(jobId);
    await waitFor('the refusal', async () => (await fixture.readJob(jobId)).cancelRefused !== null);
    return { jobId, runner };
  };

  it('leaves the job where it was, with the reason, and holds up no other job', async () => {
    const { jobId, runner } = await cancelInPool();
    expect(await fixture.readJob(jobId)).toMatchObject({
      state: 'BROADCAST',
      ending: null,
      failure: null,
      steps: [{ voided: false }],
      cancelRefused: { code: 'CANCEL_REFUSED', message: expect.stringContaining('"intrinsic gas too low"') },
    });
    const later = await fixture.submit();
    runner.wake(later);
    await fixture.waitForState(later, 'BROADCAST');
    await fixture.rpc('evm_mine');
    await fixture.waitForEnds([jobId, later]);
    expect((await fixture.readMined()).map(({ input }) => input)).toEqual([markOf(jobId, 0), markOf(later, 0)]);
    expect((await fixture.readJob(jobId)).state).toBe('FINAL');
  });

  it('can be repeated, and then cancels', async () => {
    const { jobId, runner } = await cancelInPool();
    proxy.reset();
    await fixture.journal.cancel(jobId);
    expect((await fixture.readJob(jobId)).cancelRefused).toBeNull();
    runner.wake(jobId);
    await waitFor('a cancel in the pool', async () => {
      const last = (await readAttempts(jobId)).at(-1)!;
      return last.kind === 'cancel' && last.sentAtMs !== null;
    });
    await fixture.rpc('evm_mine');
    await fixture.waitForState(jobId, 'CANCELLED');
    expect((await fixture.readMined()).map(({ input }) => input)).toEqual(['0x']);
  });

  it('is sent until it is taken where nothing else can use the nonce', async () => {
    refuse((call) => gasOfCancel(call) !== null);
    const jobId = await fixture.submit({ gas: TOO_MUCH_GAS });
    const later = await fixture.submit();
    start();
    await waitFor('the reason', async () => (await fixture.readJob(jobId)).waiting?.code === 'rpc_refuses');
    expect(await fixture.readJob(jobId)).toMatchObject({ state: 'SIGNED', ending: { state: 'PLAN_FAILED' } });
    proxy.reset();
    await fixture.waitForState(jobId, 'PLAN_FAILED');
    await fixture.waitForState(later, 'FINAL');
    expect((await fixture.readMined()).map(({ input }) => input)).toEqual(['0x', markOf(later, 0)]);
    // The same bytes: the chain asks for no more gas than they offer.
    expect((await readAttempts(jobId)).map(({ kind }) => kind)).toEqual(['first', 'cancel']);
  });

  it('is signed again with more gas once the chain says how much it takes', async () => {
    let refusals = 0;
    refuse((call) => {
      const gas = gasOfCancel(call);
      if (gas !== null) refusals++;
      return call.method === 'eth_estimateGas' || (gas !== null && gas < 42_000n);
    });
    const runner = start();
    const jobIds: string[] = [];
    // The second is sent again sooner than the first, which has been refused more often.
    for (const most of [5, 6]) {
      const jobId = await fixture.submit({ gas: TOO_MUCH_GAS });
      jobIds.push(jobId);
      runner.wake(jobId);
      await waitFor(`${most} refusals`, () => refusals >= most);
    }
    refuse((call) => (gasOfCancel(call) ?? 42_000n) < 42_000n, 42_000n);
    for (const jobId of jobIds) {
      await fixture.waitForState(jobId, 'PLAN_FAILED');
      expect((await readAttempts(jobId)).map(({ kind }) => kind)).toEqual(['first', 'cancel', 'cancel']);
    }
    expect((await fixture.readMined()).map(({ input }) => input)).toEqual(['0x', '0x']);
  });
});

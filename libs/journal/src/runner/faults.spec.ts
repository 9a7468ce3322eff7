import { setTimeout as sleep } from 'node:timers/promises';

import type { Hex } from '@tollgate/protocol';
import { parseTransaction } from 'viem';

import { refuseCalls, type Interception, type RpcCall } from '../../../../test/harness/network/rpc-proxy.js';
import { waitFor } from '../../../../test/harness/retry.js';
import { callRpc } from '../../../../tools/devnet/processes/json-rpc.js';
import { startRedis, type RedisServer } from '../../../../tools/devnet/processes/redis.js';
import { USDC_ADDRESS } from '../../../../tools/devnet/protocols/place-contracts.js';
import { copyData } from '../../test/copy-data.js';
import { useProxiedLanes, RECEIVER } from '../../test/lane-fixture.js';
import { markOf, transferPlanner } from '../../test/transfer-planner.js';
import type { LaneRunnerOptions } from './lane-runner.js';

const GWEI = 10n ** 9n;
const JSON_BODY = { 'content-type': 'application/json' };
const hex = (value: bigint) => `0x${value.toString(16)}`;

describe('a lane on a chain that fails', () => {
  let server: RedisServer;
  const { fixture, proxy } = useProxiedLanes({ startRedis: async () => (server = await startRedis()) });

  beforeEach(async () => {
    await fixture.rpc('anvil_setNextBlockBaseFeePerGas', [hex(GWEI)]);
    await fixture.rpc('evm_mine');
  });

  const countSends = () => JSON.stringify(proxy.calls).split('eth_sendRawTransaction').length - 1;

  const submitMany = (count: number) => Promise.all(Array.from({ length: count }, () => fixture.submit()));

  const expectEachOnce = async (jobIds: readonly string[]) => {
    const mined = await fixture.readMined();
    expect(mined.map(({ input }) => input).sort()).toEqual(jobIds.map((jobId) => markOf(jobId, 0)).sort());
    expect(mined.map(({ nonce }) => nonce)).toEqual(jobIds.map((_, index) => 41 + index));
  };

  /**
   * The answers to sends, in turn: accepted with the reply lost, too many requests, a broken server, garbage, success.
   */
  const loseReplies = (): Interception => {
    let turn = 0;
    return async (call, forward) => {
      if (!JSON.stringify(call).includes('eth_sendRawTransaction')) return { body: await forward() };
      const fate = turn++ % 5;
      if (fate === 0) await forward();
      if (fate === 0) return 'broken';
      if (fate === 1) return { status: 429, body: 'slow down' };
      if (fate === 2) return { status: 503, body: '<html>' };
      if (fate === 3) return { body: '{"jsonrpc":"2.0","id":1,"result":"0x1"' };
      return { body: await forward() };
    };
  };

  it('sends the same bytes again when the reply is lost, limited or garbage', async () => {
    proxy.intercept('*', loseReplies());
    proxy.intercept('eth_sendRawTransaction', loseReplies());
    const jobIds = await submitMany(12);
    fixture.startRunner({}, { rpcUrls: [proxy.rpcUrl] });
    const jobs = await fixture.waitForEnds(jobIds);
    expect(new Set(jobs.map(({ state }) => state))).toEqual(new Set(['FINAL']));
    expect(new Set(jobs.map(({ steps }) => steps[0]!.attempts.length))).toEqual(new Set([1]));
    await expectEachOnce(jobIds);
  });

  it('continues through one of two servers when the other is gone', async () => {
    const jobIds = await submitMany(2);
    fixture.startRunner({}, { rpcUrls: ['http://127.0.0.1:1', fixture.chain.rpcUrl] });
    await fixture.waitForEnds(jobIds);
    await expectEachOnce(jobIds);
  });

  it('signs again with higher fees when they rise above those of the last attempt', async () => {
    await fixture.rpc('evm_setAutomine', [false]);
    const jobId = await fixture.submit();
    fixture.startRunner({ replaceAfterMs: 100 });
    const [first] = (await fixture.waitForState(jobId, 'BROADCAST')).steps[0]!.attempts;
    await fixture.rpc('anvil_setNextBlockBaseFeePerGas', [hex(first!.maxFeePerGas * 10n)]);
    await fixture.rpc('evm_mine');
    expect(await fixture.readMined()).toEqual([]);
    await waitFor('an attempt that can be mined', async () => {
      const last = (await fixture.readJob(jobId)).steps[0]!.attempts.at(-1)!;
      return last.sentAtMs !== null && last.maxFeePerGas > first!.maxFeePerGas * 10n;
    });
    await fixture.rpc('evm_mine');
    const { attempts, mined } = (await fixture.waitForState(jobId, 'FINAL')).steps[0]!;
    expect(attempts.length).toBeGreaterThan(1);
    expect(mined!.hash).not.toBe(first!.hash);
    for (const [index, { maxFeePerGas, maxPriorityFeePerGas }] of attempts.slice(1).entries()) {
      expect(maxFeePerGas * 8n >= attempts[index]!.maxFeePerGas * 9n).toBe(true);
      expect(maxPriorityFeePerGas * 8n >= attempts[index]!.maxPriorityFeePerGas * 9n).toBe(true);
    }
    await expectEachOnce([jobId]);
  });

  it('signs again with higher fees at once when an operator wants it, and once', async () => {
    await fixture.rpc('evm_setAutomine', [false]);
    const jobId = await fixture.submit();
    expect(await fixture.journal.speedUp(jobId)).toMatchObject({ outcome: 'refused', reason: 'wrong_state' });
    const runner = fixture.startRunner({ replaceAfterMs: 600_000 });
    await fixture.waitForState(jobId, 'BROADCAST');
    expect(await fixture.journal.speedUp(jobId)).toEqual({ outcome: 'done', state: 'BROADCAST' });
    const readAttempts = async () => (await fixture.readJob(jobId)).steps[0]!.attempts;
    await waitFor('a second attempt is sent', async () => {
      runner.wake(jobId);
      return (await readAttempts())[1]?.sentAtMs != null;
    });
    runner.wake(jobId);
    const [first, second, ...others] = await readAttempts();
    expect([second!.kind, others]).toEqual(['replacement', []]);
    expect(second!.maxFeePerGas * 8n >= first!.maxFeePerGas * 9n).toBe(true);
    await fixture.rpc('evm_mine');
    expect((await fixture.waitForState(jobId, 'FINAL')).steps[0]!.mined!.hash).toBe(second!.hash);
    await expectEachOnce([jobId]);
    expect(await fixture.journal.speedUp(jobId)).toMatchObject({ outcome: 'refused', reason: 'wrong_state' });
  });

  it('sends legacy transactions on a chain without a base fee, and replaces them for a higher price', async () => {
    proxy.intercept('*', async (_, forward) => {
      const answers = JSON.parse(await forward()) as { result?: { baseFeePerGas?: string } | null }[];
      for (const { result } of [answers].flat()) if (typeof result === 'object') delete result?.baseFeePerGas;
      return { body: JSON.stringify(answers) };
    });
    await fixture.rpc('evm_setAutomine', [false]);
    const jobId = await fixture.submit();
    const runner = fixture.startRunner({ replaceAfterMs: 600_000 }, { rpcUrls: [proxy.rpcUrl] });
    await fixture.waitForState(jobId, 'BROADCAST');
    await fixture.journal.speedUp(jobId);
    await waitFor('a second attempt is sent', async () => {
      runner.wake(jobId);
      return (await fixture.readJob(jobId)).steps[0]!.attempts[1]?.sentAtMs != null;
    });
    await fixture.rpc('evm_mine');
    const { attempts, mined } = (await fixture.waitForState(jobId, 'FINAL')).steps[0]!;
    const [first, second] = attempts;
    expect(mined!.hash).toBe(second!.hash);
    const price = hex(second!.maxFeePerGas);
    expect(await fixture.rpc('eth_getTransactionByHash', [mined!.hash])).toMatchObject({
      type: '0x0',
      gasPrice: price,
    });
    expect(second!.maxFeePerGas * 8n >= first!.maxFeePerGas * 9n).toBe(true);
    await expectEachOnce([jobId]);
  });

  it('never exceeds its fee caps, and waits for lower fees', async () => {
    await fixture.rpc('evm_setAutomine', [false]);
    const jobId = await fixture.submit();
    fixture.startRunner(
      { replaceAfterMs: 20, resendAfterMs: 20, maxFeePerGas: 3n * GWEI },
      { rpcUrls: [proxy.rpcUrl] },
    );
    await fixture.waitForState(jobId, 'BROADCAST');
    await fixture.rpc('anvil_setNextBlockBaseFeePerGas', [hex(50n * GWEI)]);
    await fixture.rpc('evm_mine');
    const before = countSends();
    await waitFor('the same bytes some more', () => countSends() >= before + 3);
    // The node dropped it from its pool when its fees were too low for a block, and is sent it again.
    await waitFor('lower fees and the end', async () => {
      await fixture.rpc('anvil_setNextBlockBaseFeePerGas', [hex(GWEI / 10n)]);
      await fixture.rpc('evm_mine');
      return (await fixture.readJob(jobId)).state === 'FINAL';
    });
    const { attempts } = (await fixture.readJob(jobId)).steps[0]!;
    expect(attempts.every(({ maxFeePerGas }) => maxFeePerGas <= 3n * GWEI)).toBe(true);
    await expectEachOnce([jobId]);
  });

  it('keeps sending a cancelled transaction whose fees leave no room for a cancel', async () => {
    await fixture.rpc('evm_setAutomine', [false]);
    const jobId = await fixture.submit();
    fixture.startRunner(
      { replaceAfterMs: 20, resendAfterMs: 20, maxPriorityFeePerGas: 1n, maxFeePerGas: 3n * GWEI },
      { rpcUrls: [proxy.rpcUrl] },
    );
    await fixture.waitForState(jobId, 'BROADCAST');
    expect(await fixture.journal.cancel(jobId)).toMatchObject({ outcome: 'cancelling' });
    // The node drops it from its pool when its fees are too low for a block.
    await fixture.rpc('anvil_dropAllTransactions');
    await fixture.rpc('anvil_setNextBlockBaseFeePerGas', [hex(50n * GWEI)]);
    await fixture.rpc('evm_mine');
    const later = await fixture.submit();
    await waitFor('lower fees and the end of both', async () => {
      await fixture.rpc('anvil_setNextBlockBaseFeePerGas', [hex(GWEI / 10n)]);
      await fixture.rpc('evm_mine');
      return (await fixture.readJob(later)).state === 'FINAL';
    });
    // Both are confirmed at one look, in any order.
    await fixture.waitForState(jobId, 'FINAL');
    await expectEachOnce([jobId, later]);
  });

  it('pauses when the wallet is empty, keeps the nonces, and resumes when it is refilled', async () => {
    await fixture.setBalance(0n);
    const jobIds = await submitMany(3);
    fixture.startRunner({}, { rpcUrls: [proxy.rpcUrl] });
    const readLane = () => fixture.journal.readLane(fixture.lane);
    await waitFor('the pause', async () => (await readLane()).paused?.code === 'INSUFFICIENT_FUNDS');
    const { nextNonce } = await readLane();
    const later = await fixture.submit();
    const before = countSends();
    await waitFor('the same bytes some more', () => countSends() >= before + 5);
    expect((await readLane()).nextNonce).toBe(nextNonce);

    await fixture.setBalance(10n ** 19n);
    await fixture.waitForEnds([...jobIds, later]);
    expect((await fixture.journal.readLane(fixture.lane)).paused).toBeNull();
    await expectEachOnce([...jobIds, later]);
  });

  it('resumes when it is refilled, even if a server knows nothing of the unsent transaction', async () => {
    await fixture.setBalance(0n);
    const jobIds = await submitMany(2);
    fixture.startRunner({}, { rpcUrls: [proxy.rpcUrl] });
    const readPause = async () => (await fixture.journal.readLane(fixture.lane)).paused?.code ?? null;
    await waitFor('the pause', async () => (await readPause()) === 'INSUFFICIENT_FUNDS');
    let unknown = 0;
    proxy.intercept('*', async (call, forward) => {
      if (!JSON.stringify(call).includes('eth_sendRawTransaction')) return { body: await forward() };
      unknown++;
      return 'broken';
    });
    await waitFor('some tries', () => unknown >= 5);
    expect(await readPause()).toBe('INSUFFICIENT_FUNDS');
    await fixture.setBalance(10n ** 19n);
    await waitFor('the lane to go on', async () => (await readPause()) === null);
    proxy.reset();
    await fixture.waitForEnds(jobIds);
    await expectEachOnce(jobIds);
  });

  it('leaves a lane paused that an operator paused', async () => {
    const why = { code: 'MAINTENANCE', message: 'The wallet is moved.', suggestion: 'Wait.' };
    await fixture.journal.pauseLane(fixture.lane, why);
    const jobId = await fixture.submit();
    fixture.startRunner();
    await waitFor('a plan', async () => (await fixture.readJob(jobId)).steps.length === 1);
    expect(await fixture.journal.readLane(fixture.lane)).toMatchObject({ paused: why, nextNonce: 41 });
    await fixture.journal.resumeLane(fixture.lane);
    await fixture.waitForState(jobId, 'FINAL');
    await expectEachOnce([jobId]);
  });

  it('leaves a lane paused that an operator paused while its wallet was empty', async () => {
    const why = { code: 'MAINTENANCE', message: 'The wallet is moved.', suggestion: 'Wait.' };
    const { journal, lane } = fixture;
    await fixture.setBalance(0n);
    const signed = await fixture.submit();
    fixture.startRunner();
    await waitFor('the pause', async () => (await journal.readLane(lane)).paused?.code === 'INSUFFICIENT_FUNDS');
    const later = await fixture.submit();
    expect(await journal.pauseLane(lane, why)).toEqual({ outcome: 'done' });
    await fixture.setBalance(10n ** 19n);
    await fixture.waitForState(signed, 'FINAL');
    // Several looks, each of which would resume the lane if the wallet's own pause were still there.
    await sleep(500);
    expect(await journal.readLane(lane)).toMatchObject({ paused: why, nextNonce: 42 });
    expect((await fixture.readJob(later)).state).toBe('PLANNED');
    await journal.resumeLane(lane);
    await fixture.waitForState(later, 'FINAL');
    await expectEachOnce([signed, later]);
  });

  it('sends the same bytes again when a reorganisation removes their block', async () => {
    const jobId = await fixture.submit();
    fixture.startRunner({ confirmations: 4 });
    const before = (await fixture.waitForState(jobId, 'MINED')).steps[0]!;
    await fixture.rpc('evm_setAutomine', [false]);
    await fixture.rpc('anvil_reorg', [1, []]);
    await fixture.waitForState(jobId, 'BROADCAST');
    await waitFor('the bytes in the pool again', async () => {
      const found = (await fixture.rpc('eth_getTransactionByHash', [before.mined!.hash])) as {
        blockHash: string | null;
      } | null;
      return found?.blockHash === null;
    });
    await fixture.rpc('anvil_mine', ['0x1']);
    const again = (await fixture.waitForState(jobId, 'MINED')).steps[0]!;
    expect(again.mined!.blockHash).not.toBe(before.mined!.blockHash);
    await fixture.rpc('anvil_mine', ['0x4']);
    const after = (await fixture.waitForState(jobId, 'FINAL')).steps[0]!;
    expect(after.mined!.hash).toBe(before.mined!.hash);
    expect(after.attempts.map(({ hash }) => hash)).toEqual(before.attempts.map(({ hash }) => hash));
    await expectEachOnce([jobId]);
  });

  it('parks the job for an operator when a foreign transaction used the nonce, and never takes another nonce', async () => {
    const jobId = await fixture.submit();
    await fixture.sendForeign(41);
    fixture.startRunner({ nonceDoubtBlocks: 3 });
    await fixture.waitForState(jobId, 'SIGNED');
    await fixture.rpc('anvil_mine', ['0x1']);
    const later = await fixture.submit();
    await waitFor('an operator', async () => {
      await fixture.rpc('anvil_mine', ['0x1']);
      return (await fixture.readJob(jobId)).state === 'NEEDS_OPERATOR';
    });
    const job = await fixture.readJob(jobId);
    expect(job.failure!.code).toBe('NONCE_TAKEN');
    expect(job.steps.map(({ nonce }) => nonce)).toEqual([41]);
    expect((await fixture.readEvents()).filter((event) => event.jobId === jobId).map(({ type }) => type)).toEqual([
      'jobNeedsOperator',
    ]);
    await fixture.waitForState(later, 'FINAL');
    expect((await fixture.readMined()).map(({ nonce, input }) => [nonce, input])).toEqual([
      [41, '0x'],
      [42, markOf(later, 0)],
    ]);
  });

  it('suspects no foreign transaction while one server has the receipt', async () => {
    const lie: Interception = async (call, forward) => {
      const text = await forward();
      if (!JSON.stringify(call).includes('eth_getTransactionReceipt')) return { body: text };
      const blank = (answer: { result?: unknown }) => ({
        ...answer,
        result: isReceipt(answer.result) ? null : answer.result,
      });
      const answer = JSON.parse(text) as { result?: unknown } | { result?: unknown }[];
      return { body: JSON.stringify(Array.isArray(answer) ? answer.map(blank) : blank(answer)) };
    };
    proxy.intercept('*', lie);
    const jobId = await fixture.submit();
    fixture.startRunner({ nonceDoubtBlocks: 1 }, { rpcUrls: [proxy.rpcUrl, fixture.chain.rpcUrl] });
    await waitFor('the end', async () => {
      await fixture.rpc('anvil_mine', ['0x1']);
      return (await fixture.readJob(jobId)).state === 'FINAL';
    });
    await expectEachOnce([jobId]);
  });

  it('gives up bytes that no server will ever accept, and uses their nonce', async () => {
    const jobId = await fixture.submit({ gas: '4000000000' });
    fixture.startRunner();
    const job = await fixture.waitForState(jobId, 'PLAN_FAILED');
    expect(job.failure!.code).toBe('TRANSACTION_REFUSED');
    expect(job.steps[0]!.attempts.map(({ kind }) => kind)).toEqual(['first', 'cancel']);
    const later = await fixture.submit();
    await fixture.waitForState(later, 'FINAL');
    expect((await fixture.readMined()).map(({ nonce, to, input }) => [nonce, to, input])).toEqual([
      [41, fixture.lane.address, '0x'],
      [42, RECEIVER, markOf(later, 0)],
    ]);
  });

  it('uses the nonce of bytes that no server accepts, even if their fees cannot be raised any more', async () => {
    const caps = { maxPriorityFeePerGas: 1n, maxFeePerGas: 3n * GWEI };
    const jobId = await fixture.submit({ gas: '4000000000' });
    fixture.startRunner(caps);
    const job = await fixture.waitForState(jobId, 'PLAN_FAILED');
    expect(job.steps[0]!.attempts.map(({ kind }) => kind)).toEqual(['first', 'cancel']);
    expect((await fixture.readMined()).map(({ nonce, to }) => [nonce, to])).toEqual([[41, fixture.lane.address]]);
  });

  it('cancels a transaction in the pool by a transfer to the wallet itself', async () => {
    await fixture.rpc('evm_setAutomine', [false]);
    const jobId = await fixture.submit();
    const runner = fixture.startRunner();
    await fixture.waitForState(jobId, 'BROADCAST');
    expect(await fixture.journal.cancel(jobId)).toMatchObject({ outcome: 'cancelling' });
    runner.wake(jobId);
    await waitFor('a cancel in the pool', async () => {
      const last = (await fixture.readJob(jobId)).steps[0]!.attempts.at(-1)!;
      return last.kind === 'cancel' && last.sentAtMs !== null;
    });
    await fixture.rpc('evm_mine');
    await fixture.waitForState(jobId, 'CANCELLED');
    expect((await fixture.readMined()).map(({ nonce, to, input }) => [nonce, to, input])).toEqual([
      [41, fixture.lane.address, '0x'],
    ]);
  });

  // As on chains that count more for a transaction, and for wallets with delegated code.
  it('cancels on a chain that asks more gas than 21,000 for a transfer', async () => {
    const least = 42_000n;
    const refuse = refuseCalls(fixture.chain.rpcUrl, ({ method, params: [raw] }) =>
      method === 'eth_sendRawTransaction' && parseTransaction(raw as Hex).gas! < least ? 'intrinsic gas too low' : null,
    );
    proxy.intercept('*', async (call, forward) => {
      const { body } = (await refuse(call, forward)) as { body: string };
      const answers = [JSON.parse(body) as { id: number; result: unknown }].flat();
      const asked = [call as RpcCall & { id: number }].flat();
      for (const answer of answers) {
        if (asked.find(({ id }) => id === answer.id)!.method === 'eth_estimateGas') answer.result = hex(least);
      }
      return { body: JSON.stringify(Array.isArray(call) ? answers : answers[0]) };
    });
    await fixture.rpc('evm_setAutomine', [false]);
    const jobId = await fixture.submit();
    const runner = fixture.startRunner({}, { rpcUrls: [proxy.rpcUrl] });
    await fixture.waitForState(jobId, 'BROADCAST');
    await fixture.journal.cancel(jobId);
    runner.wake(jobId);
    await waitFor('a cancel in the pool', async () => {
      const last = (await fixture.readJob(jobId)).steps[0]!.attempts.at(-1)!;
      return last.kind === 'cancel' && last.sentAtMs !== null;
    });
    await fixture.rpc('evm_mine');
    const { mined } = (await fixture.waitForState(jobId, 'CANCELLED')).steps[0]!;
    expect(await fixture.rpc('eth_getTransactionByHash', [mined!.hash])).toMatchObject({ gas: hex((least * 3n) / 2n) });
  });

  it('lets the job succeed when its own transaction is mined before the cancel', async () => {
    const jobId = await fixture.submit();
    fixture.startRunner({ confirmations: 3 });
    await fixture.waitForState(jobId, 'MINED');
    expect(await fixture.journal.cancel(jobId)).toMatchObject({ outcome: 'refused', reason: 'too_late' });
    await fixture.rpc('anvil_mine', ['0x3']);
    await fixture.waitForState(jobId, 'FINAL');
    await expectEachOnce([jobId]);
  });

  it('reports a reverted transaction with the verdict of the judge', async () => {
    const failure = { code: 'TOKEN_REFUSED', message: 'The token refused.', suggestion: 'Look at it.' };
    const [plain, read] = await Promise.all([
      fixture.submit({ receivers: [USDC_ADDRESS] }),
      fixture.submit({ receivers: [USDC_ADDRESS], data: '0xdeadbeef' }),
    ]);
    fixture.startRunner(
      {},
      {
        judgeStep: (job) => Promise.resolve(job.id === read ? { outcome: 'failed', failure } : { outcome: 'done' }),
      },
    );
    expect((await fixture.waitForState(plain, 'REVERTED')).failure!.code).toBe('TRANSACTION_REVERTED');
    expect((await fixture.waitForState(read, 'REVERTED')).failure).toEqual(failure);
    const events = (await fixture.readEvents()).filter(({ type }) => type === 'transactionFailed');
    expect(events.map(({ jobId }) => jobId).sort()).toEqual([plain, read].sort());
  });

  it('resumes after Redis was killed, once it is compared with the chain', async () => {
    const jobIds = await submitMany(3);
    fixture.startRunner();
    await fixture.waitForEnds(jobIds);
    await server.kill();
    await server.start();
    await fixture.redis.ping();
    const later = await fixture.submit();
    await fixture.waitForState(later, 'FINAL');
    await expectEachOnce([...jobIds, later]);
  });

  it('sends no job twice that Redis lost the sending of, while the server does not show its transaction yet', async () => {
    const { journal, redis, lane } = fixture;
    await fixture.rpc('evm_setAutomine', [false]);
    // As of a Redis with `appendfsync everysec`.
    await redis.config('SET', 'appendfsync', 'everysec');
    await journal.open();
    // While another fsync runs, `everysec` may write seconds after the answer. The copy must have what follows.
    await redis.config('SET', 'appendfsync', 'always');
    const [sent = '', other = ''] = await submitMany(2);
    const putBack = copyData(server);
    const planWhen = (isWanted: (jobId: string) => Promise<boolean> | boolean): Partial<LaneRunnerOptions> => ({
      planner: {
        plan: async (job, asked) => {
          if (await isWanted(job.id)) return transferPlanner.plan(job, asked);
          throw new Error('The price server is down.');
        },
      },
    });
    fixture.startRunner(
      {},
      planWhen((jobId) => jobId === sent),
    );
    await fixture.waitForState(sent, 'BROADCAST');
    await fixture.endWorkers();

    await putBack();
    await journal.open();
    let looks = 0;
    // Shows no transaction that is not mined.
    proxy.intercept('*', async (call) => {
      const asked = JSON.stringify(call);
      if (asked.includes('"pending"')) looks++;
      const body = asked.replaceAll('"pending"', '"latest"');
      return { body: await (await fetch(fixture.chain.rpcUrl, { method: 'POST', headers: JSON_BODY, body })).text() };
    });
    const hasNonce = async (jobId: string) => typeof (await fixture.readJob(jobId)).steps[0]?.nonce === 'number';
    // The other job would take the nonce of the transaction that was sent.
    const planner = planWhen(async (jobId) => jobId === other || hasNonce(other));
    fixture.startRunner({ nonceDoubtBlocks: 3 }, { rpcUrls: [proxy.rpcUrl], ...planner });
    await waitFor('some looks', () => looks >= 5);
    expect(await journal.readLane(lane)).toMatchObject({ frozen: 'lost', nextNonce: 41 });
    await fixture.rpc('evm_mine');
    await waitFor('the freeze', async () => (await journal.readLane(lane)).frozen === 'chain_ahead');
    await journal.adopt(lane, { pendingNonce: 42 });
    for (const jobId of [sent, other]) await fixture.waitForState(jobId, 'NEEDS_OPERATOR');
    await expectEachOnce([sent]);
  });

  it('is run by one of two runners at a time, and by the other as soon as it is released', async () => {
    const runners = [fixture.startRunner({ leaseMs: 60_000 }), fixture.startRunner({ leaseMs: 60_000 })];
    const jobIds = await submitMany(20);
    await fixture.waitForEnds(jobIds);
    expect(runners.map(({ isHolding }) => isHolding).sort()).toEqual([false, true]);
    await runners.find(({ isHolding }) => isHolding)!.stop();
    expect((await fixture.journal.readLane(fixture.lane)).lease).toBeNull();
    await expectEachOnce(jobIds);
  });

  it('never has more in flight than the limit', async () => {
    await fixture.rpc('evm_setAutomine', [false]);
    const jobIds = await submitMany(9);
    fixture.startRunner({ maxInFlight: 4 });
    for (const mined of [4, 8, 9]) {
      const expected = Math.min(mined, 9) - (mined === 9 ? 8 : mined - 4);
      await waitFor(`${expected} in the pool`, async () => {
        const { pending } = (await callRpc(fixture.chain.rpcUrl, 'txpool_status')) as { pending: string };
        return Number(pending) === expected;
      });
      expect((await fixture.journal.readLane(fixture.lane)).nextNonce).toBe(41 + mined);
      await fixture.rpc('evm_mine');
    }
    await fixture.waitForEnds(jobIds);
    await expectEachOnce(jobIds);
  });

  it('has one at a time in flight of a wallet with delegated code', async () => {
    await fixture.rpc('anvil_setCode', [fixture.lane.address, `0xef0100${'ab'.repeat(20)}`]);
    await fixture.rpc('evm_setAutomine', [false]);
    const jobIds = await submitMany(3);
    fixture.startRunner();
    for (let mined = 0; mined < 3; mined += 1) {
      await waitFor('one in the pool', async () => {
        const { pending } = (await callRpc(fixture.chain.rpcUrl, 'txpool_status')) as { pending: string };
        return Number(pending) > 0;
      });
      // Taken before it was sent, so a second one in flight would have taken the next.
      expect((await fixture.journal.readLane(fixture.lane)).nextNonce).toBe(42 + mined);
      await fixture.rpc('evm_mine');
    }
    await fixture.waitForEnds(jobIds);
    await expectEachOnce(jobIds);
  });
});

function isReceipt(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'gasUsed' in value && 'transactionHash' in value;
}

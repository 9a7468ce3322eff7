import type { CrashPoint } from '@tollgate/journal';
import { listPayments } from '@tollgate/ledger';
import type { AgentAnswerView } from '@tollgate/protocol';

import { LaneFixture, QUICK } from '../../../../libs/journal/test/lane-fixture.js';
import { listTransfers } from '../../../../packages/client/test/paid-server.js';
import { bundleProgram } from '../../../../test/harness/stack/bundle-program.js';
import { transferTokens } from '../../../../tools/devnet/chain/transfer-tokens.js';
import { startChild, type Child } from '../../../../tools/devnet/processes/child-process.js';
import { startRedis } from '../../../../tools/devnet/processes/redis.js';
import { startStack, type Stack } from '../../../../tools/devnet/stack/stack.js';
import { createPayingWallet } from '../../test/paying-lane.js';
import type { PaymentWorkerTask } from '../../test/payment-worker.js';
import type { PaymentPlanner } from './payment-planner.js';

/**
 * With the challenge stored and nothing signed; signed and not sent; mined and not redeemed; redeemed and not noted.
 */
const POINTS: CrashPoint[] = ['F4', 'F6', 'F15', 'F16'];

/** For a process that compiles its sources first, on a busy machine. */
const PROCESS_WITHIN_MS = 60_000;

describe('a worker that is killed during a payment', () => {
  let fixture: LaneFixture;
  let stack: Stack;
  let workers: Child[];
  let payments: PaymentPlanner | undefined;

  beforeAll(async () => {
    const redis = await startRedis();
    fixture = await LaneFixture.start({}, redis);
    stack = await startStack({ redis, chain: fixture.chain, env: { PAYMENT_POLICY: 'bound' } });
  }, 120_000);

  afterAll(async () => {
    await stack.stop();
    await fixture.stop();
  });

  beforeEach(async () => {
    workers = [];
    await fixture.useNewWallet();
    await transferTokens(fixture.chain, { to: fixture.lane.address, amountBaseUnits: 1_000_000n });
  });

  afterEach(async () => {
    await Promise.all(workers.map((worker) => worker.end('SIGKILL')));
    await fixture.endWorkers();
    await payments?.stop();
  });

  const startWorker = async (crashAt: CrashPoint): Promise<Child> => {
    const { rpcUrl, chainId } = fixture.chain;
    const owner = `worker-${workers.length}`;
    const task: PaymentWorkerTask = {
      rpcUrl,
      chainId,
      owner,
      crashAt,
      redisUrl: fixture.server.url,
      privateKey: fixture.privateKey,
      settings: QUICK,
    };
    const worker = await startChild({
      name: owner,
      command: process.execPath,
      args: [await bundleProgram('apps/agent-worker/test/payment-worker.ts')],
      env: { ...process.env, TASK: JSON.stringify(task) },
    });
    workers.push(worker);
    return worker;
  };

  /** The worker after the killed one, in this process. */
  const startSuccessor = (): void => {
    const { chain, journal, lane } = fixture;
    const paying = createPayingWallet({ rpcUrl: chain.rpcUrl, address: lane.address, journal });
    payments = paying.payments;
    fixture.startRunner(QUICK, { planner: paying.wallet, judgeStep: paying.wallet.judgeStep });
  };

  const submit = async (): Promise<string> => {
    const input = { url: `${stack.baseUrl}/api/weather?city=${fixture.lane.address}` };
    const result = await fixture.journal.submit({ ...fixture.request(), operation: 'payment', input });
    if (result.outcome !== 'accepted') throw new Error(`not accepted: ${result.outcome}`);
    return result.jobId;
  };

  const readLedger = async () => {
    const { payments, cursor } = await listPayments(fixture.redis, { limit: 1_000 });
    expect(cursor).toBeNull();
    return payments;
  };

  it.each(POINTS)(
    'at %s pays once and gets the answer',
    async (point) => {
      const before = (await readLedger()).length;
      const jobId = await submit();
      const killed = await startWorker(point);
      await killed.waitForLine(new RegExp(`crash point ${point}$`), PROCESS_WITHIN_MS);
      expect(await killed.exited).toMatchObject({ signal: 'SIGKILL' });
      expect((await fixture.readJob(jobId)).details).not.toHaveProperty('answer');
      expect(await readLedger()).toHaveLength(before + (point === 'F16' ? 1 : 0));

      startSuccessor();
      const job = await fixture.waitForState(jobId, 'FINAL');
      expect(job.details['answer']).toMatchObject({
        httpStatus: 200,
        contentType: expect.stringContaining('application/json') as string,
        isBodyCut: false,
      } satisfies Partial<AgentAnswerView>);
      const txHash = job.steps[0]!.mined!.hash;
      expect(await fixture.readMined()).toMatchObject([{ nonce: 41, hash: txHash }]);
      expect(await listTransfers(fixture.chain, fixture.lane.address)).toEqual([txHash]);
      const payments = await readLedger();
      expect(payments).toHaveLength(before + 1);
      expect(payments.filter(({ id }) => 'txHash' in id && id.txHash === txHash)).toMatchObject([
        { state: 'answered' },
      ]);
    },
    3 * PROCESS_WITHIN_MS,
  );
});

import {
  PLAN_JOB,
  PLAN_QUEUE,
  READ_MINED_NONCE,
  RequestReplyClient,
  type MessageClient,
  type PlanJobReply,
} from '@tollgate/transport';

import { waitFor } from '../../../../test/harness/retry.js';
import { RECEIVER, transferPlanning, WorkerFixture, type TestWallet } from '../../test/worker-fixture.js';
import { PlanJobController } from './plan-job.controller.js';
import type { JobPlanning, Plannings } from './plannings.js';

const PLANNED: PlanJobReply = {
  outcome: 'refused',
  failure: { code: 'TEST', message: 'Planned.', suggestion: 'None.' },
};
const requestFor = (wallet: string) =>
  ({ operation: 'transfer', wallet, input: { amount: '1', to: RECEIVER } }) as const;

/** Dry runs that last until they are released. */
function createSlowDryRuns() {
  const slow = { begun: 0, release: () => {} };
  const released = new Promise<PlanJobReply>((resolve) => (slow.release = () => resolve(PLANNED)));
  const dryRun: JobPlanning['dryRun'] = () => {
    slow.begun++;
    return released;
  };
  return { slow, dryRun };
}

describe('slow dry runs', () => {
  let fixture: WorkerFixture;
  let wallet: TestWallet;
  let client: RequestReplyClient;

  beforeAll(async () => {
    fixture = await WorkerFixture.start();
    wallet = await fixture.createWallet();
    client = new RequestReplyClient({ redisUrl: fixture.server.url, queue: PLAN_QUEUE });
  });

  afterAll(async () => {
    await client.close();
    await fixture.stop();
  });

  it('of one wallet are limited, and those of another are planned meanwhile', async () => {
    const { slow, dryRun } = createSlowDryRuns();
    const find = (name: string) => ({ dryRun: name === 'slow' ? dryRun : () => Promise.resolve(PLANNED) });
    const controller = new PlanJobController({ find } as unknown as Plannings);
    const runs = Array.from({ length: 17 }, () => controller.plan(requestFor('slow')));
    expect(await controller.plan(requestFor('quick'))).toEqual(PLANNED);
    expect(await Promise.race(runs)).toMatchObject({ outcome: 'unavailable' });
    slow.release();
    const replies = await Promise.all(runs);
    expect([slow.begun, replies.filter((reply) => reply === PLANNED).length]).toEqual([16, 16]);
  });

  it('leave the nonce of a wallet readable', async () => {
    const { slow, dryRun } = createSlowDryRuns();
    const planning = { ...transferPlanning, dryRun };
    await fixture.startWorker({ WALLET_PRIVATE_KEY: wallet.privateKey }, () => ({
      planning,
      stop: () => Promise.resolve(),
    }));
    const workers: MessageClient<typeof PLAN_QUEUE> = client;
    const asked = { timeoutMs: 15_000, routingKey: 'main' };
    const runs = Promise.all(Array.from({ length: 40 }, () => workers.ask(PLAN_JOB, requestFor('main'), asked)));
    await waitFor('the dry runs', () => slow.begun >= 16);
    const question = { ...wallet.lane, attempts: [] };
    expect(await workers.ask(READ_MINED_NONCE, question, { timeoutMs: 5_000 })).toMatchObject({ outcome: 'read' });
    slow.release();
    await runs;
  });
});

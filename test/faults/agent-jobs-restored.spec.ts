import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { createAgentClient } from '../harness/agents/agent-client.js';
import { waitFor } from '../harness/retry.js';
import { expectCarriedOutOnce, useAgents } from '../harness/stack/use-agents.js';

// Processes are killed and restarted, which is slow on a busy machine.
jest.setTimeout(180_000);

const TRANSFER = { amount: '0.01', to: '0x00000000000000000000000000000000000a11ce' } as const;

/** F13: the journal's Redis is restored from an older copy of its data. */
describe('when Redis is restored from a copy', () => {
  const agents = useAgents({ workers: 2 });
  let copy: string;

  beforeEach(() => {
    copy = mkdtempSync(join(tmpdir(), 'tollgate-copy-'));
  });
  afterEach(async () => {
    rmSync(copy, { recursive: true });
    await agents().rpc('evm_setAutomine', [true]);
  });

  const takeCopy = () => cpSync(agents().stack.redis.dir, copy, { recursive: true });
  const restore = async () => {
    const { redis } = agents().stack;
    await redis.kill();
    rmSync(redis.dir, { recursive: true });
    cpSync(copy, redis.dir, { recursive: true });
    await redis.start();
  };
  const transfer = () => agents().submit('transfer', TRANSFER);
  const waitForEnd = (jobId: string) => agents().client.waitFor(jobId, 'FINAL');

  it('that was made in the middle of a job, the worker reads the chain first, and sends only the same bytes', async () => {
    await agents().rpc('evm_setAutomine', [false]);
    const jobId = await transfer();
    await agents().client.waitFor(jobId, 'BROADCAST');
    takeCopy();
    await agents().rpc('evm_mine');
    await waitForEnd(jobId);
    await restore();
    const job = await waitForEnd(jobId);
    await expectCarriedOutOnce(agents(), job);
  });

  it('that lacks a job, its wallet sends nothing until an operator intervenes, and no nonce is used twice', async () => {
    const { wallet, journal, stack, follower } = agents();
    takeCopy();
    const lost = await waitForEnd(await transfer());
    const sent = await agents().readNewTransactions();
    expect(sent.map(({ hash }) => hash)).toEqual([lost.steps[0]!.mined!.txHash]);
    await waitFor('its end on the stream', () =>
      agents()
        .eventsOf(lost.id)
        .some(({ type }) => type === 'jobCompleted'),
    );
    const opened = follower.opened();
    await restore();
    // The gateway ends the stream when it finds that events it sent already were lost, because their numbers are
    // reused.
    await waitFor('the stream to be opened again', () => follower.opened() > opened);
    await waitFor('the freeze', async () => (await journal.readLane(wallet.lane)).frozen === 'chain_ahead');
    const later = await transfer();
    // A worker holds the lane and renews its lease, so the lane is not idle for lack of a worker.
    const readUntil = async () => (await journal.readLane(wallet.lane)).lease?.untilMs ?? 0;
    const before = await readUntil();
    await waitFor('later renewals', async () => (await readUntil()) > before + 2_000);
    expect(await agents().readNewTransactions()).toEqual([]);
    expect(await agents().client.read(later)).toMatchObject({ state: 'PLANNED' });

    // The operator adopts the wallet at the chain's nonce. The job waits for an operator's decision, because it may be
    // the one that was sent.
    await stack.agents!.adopt(wallet.name);
    await agents().client.waitFor(later, 'NEEDS_OPERATOR');
    const operator = createAgentClient(stack.baseUrl, (await stack.agents!.createApiKey(['operator'])).token);
    expect((await operator.send('POST', `/agent/jobs/${later}/resume`)).status).toBe(200);
    const job = await waitForEnd(later);
    expect((await agents().readNewTransactions()).map(({ hash, nonce }) => [hash, nonce])).toEqual([
      [job.steps[0]!.mined!.txHash, lost.steps[0]!.nonce! + 1],
    ]);
    // It is submitted more than once when its block is late, which may happen on a busy machine.
    const types = () => [
      ...new Set(
        agents()
          .eventsOf(later)
          .map(({ type }) => type),
      ),
    ];
    await waitFor('the end on the stream', () => types().includes('jobCompleted'));
    expect(types()).toEqual(['jobNeedsOperator', 'transactionSubmitted', 'transactionConfirmed', 'jobCompleted']);
  });
});

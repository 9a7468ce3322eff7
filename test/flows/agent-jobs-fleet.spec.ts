import { waitFor } from '../harness/retry.js';
import { useAgents } from '../harness/stack/use-agents.js';

// Processes are killed and restarted, which is slow on a busy machine.
jest.setTimeout(180_000);

const JOBS = 100;
const RECEIVER = '0x00000000000000000000000000000000000a11ce';

describe('three workers for one wallet', () => {
  const agents = useAgents({ workers: 3, blockTimeSeconds: 1 });

  it(`carry out ${JOBS} jobs, each once`, async () => {
    const { client, follower, wallet, journal } = agents();
    const input = { amount: '0.01', to: RECEIVER };
    const jobIds = await Promise.all(Array.from({ length: JOBS }, () => agents().submit('transfer', input)));
    for (const jobId of jobIds) await client.waitFor(jobId, 'FINAL');

    const jobs = await Promise.all(jobIds.map((jobId) => client.read(jobId)));
    const sent = await agents().readNewTransactions();
    const steps = jobs.flatMap((job) => job.steps).sort((one, other) => one.nonce! - other.nonce!);
    expect(sent.map(({ hash }) => hash)).toEqual(steps.map(({ mined }) => mined!.txHash));
    expect(steps.map(({ nonce }) => nonce)).toEqual(steps.map((_, index) => steps[0]!.nonce! + index));
    expect(steps).toHaveLength(JOBS);
    expect((await journal.readLane(wallet.lane)).nextNonce).toBe(sent.at(-1)!.nonce + 1);
    const completed = () =>
      new Set(follower.events.filter(({ type }) => type === 'jobCompleted').map(({ jobId }) => jobId));
    await waitFor('every end on the stream', () => completed().size >= JOBS);
    expect(completed()).toEqual(new Set(jobIds));
  });
});

import { LaneFixture, useLanes, RECEIVER } from '../../test/lane-fixture.js';
import { markOf } from '../../test/transfer-planner.js';
import type { CrashPoint } from '../crash-point.js';

// Processes are killed and restarted, which takes long on a busy machine.
jest.setTimeout(180_000);
const PROCESS_WITHIN_MS = 60_000;

describe('a worker that is killed', () => {
  const fixture = useLanes();

  /** Each step is mined once, at nonces without a gap, and every event has a unique id. */
  const expectEachStepOnce = async (jobId: string) => {
    const mined = await fixture.readMined();
    expect(mined.map(({ nonce, input }) => ({ nonce, input }))).toEqual([
      { nonce: 41, input: markOf(jobId, 0) },
      { nonce: 42, input: markOf(jobId, 1) },
    ]);
    const { steps } = await fixture.readJob(jobId);
    expect(steps.map((step) => step.mined?.hash)).toEqual(mined.map(({ hash }) => hash));
    const events = (await fixture.readEvents()).filter((event) => event.jobId === jobId);
    expect(new Set(events.map(({ id }) => id)).size).toBe(events.length);
    expect(events.map(({ type }) => type).filter((type) => type !== 'transactionSubmitted')).toEqual([
      'transactionConfirmed',
      'transactionConfirmed',
      'jobCompleted',
    ]);
  };

  const killAt = async (at: CrashPoint, changes: Parameters<LaneFixture['startWorker']>[0] = {}) => {
    const worker = await fixture.startWorker({ crash: { at, signal: 'SIGKILL' }, ...changes });
    await worker.waitForLine(new RegExp(`crash point ${at}$`), PROCESS_WITHIN_MS);
    expect(await worker.exited).toMatchObject({ signal: 'SIGKILL' });
  };

  const twoSteps = { receivers: [RECEIVER, RECEIVER] } as const;

  it('F1: before it submitted a job leaves none; the key creates one', async () => {
    const submit = fixture.request(twoSteps);
    await killAt('F1', { submit });
    expect(await fixture.listJobs()).toEqual([]);
    const worker = await fixture.startWorker({ submit });
    await worker.waitForLine(/worker ready/, PROCESS_WITHIN_MS);
    const [jobId] = await fixture.listJobs();
    await fixture.waitForState(jobId!, 'FINAL');
    await expectEachStepOnce(jobId!);
  });

  it('F2: after it submitted a job leaves one that is found; the key creates no second', async () => {
    const submit = fixture.request(twoSteps);
    await killAt('F2', { submit });
    const worker = await fixture.startWorker({ submit });
    await worker.waitForLine(/worker ready/, PROCESS_WITHIN_MS);
    const [jobId] = await fixture.listJobs();
    await fixture.waitForState(jobId!, 'FINAL');
    expect(await fixture.listJobs()).toEqual([jobId]);
    await expectEachStepOnce(jobId!);
  });

  it.each(['F3', 'F4', 'F5', 'F6', 'F7', 'F8', 'F10'] as const)('%s: leaves a job that is completed', async (at) => {
    const jobId = await fixture.submit(twoSteps);
    await killAt(at);
    fixture.startRunner();
    await fixture.waitForState(jobId, 'FINAL');
    await expectEachStepOnce(jobId);
  });

  it('F9: with a replacement that was not sent leaves two attempts, of which one is mined', async () => {
    await fixture.rpc('evm_setAutomine', [false]);
    const jobId = await fixture.submit(twoSteps);
    await killAt('F9', { settings: { replaceAfterMs: 0 } });
    expect((await fixture.readJob(jobId)).steps[0]!.attempts.map(({ kind }) => kind)).toEqual(['first', 'replacement']);
    await fixture.rpc('evm_setAutomine', [true]);
    fixture.startRunner();
    await fixture.waitForState(jobId, 'FINAL');
    await expectEachStepOnce(jobId);
  });

  it('F11: after a reorganisation leaves a step whose stored bytes are sent again', async () => {
    const snapshot = await fixture.rpc('evm_snapshot');
    const jobId = await fixture.submit(twoSteps);
    const worker = await fixture.startWorker({
      crash: { at: 'F11', signal: 'SIGKILL' },
      settings: { confirmations: 3 },
    });
    const { steps: before } = await fixture.waitForState(jobId, 'MINED');
    await fixture.rpc('evm_revert', [snapshot]);
    await fixture.rpc('anvil_mine', ['0x4']);
    await worker.waitForLine(/crash point F11$/, PROCESS_WITHIN_MS);
    await worker.exited;
    expect(await fixture.readMined()).toEqual([]);

    fixture.startRunner();
    const { steps: after } = await fixture.waitForState(jobId, 'FINAL');
    expect(after[0]!.attempts.map(({ hash }) => hash)).toEqual(before[0]!.attempts.map(({ hash }) => hash));
    await expectEachStepOnce(jobId);
  });

  it('F12: that was stopped for longer than its lease writes nothing more', async () => {
    const jobId = await fixture.submit(twoSteps);
    const zombie = await fixture.startWorker({ crash: { at: 'F12', signal: 'SIGSTOP' } });
    await zombie.waitForLine(/crash point F12$/, PROCESS_WITHIN_MS);
    fixture.startRunner();
    await fixture.waitForState(jobId, 'FINAL');
    const { attempts } = (await fixture.readJob(jobId)).steps[0]!;
    zombie.signal('SIGCONT');
    await zombie.waitForLine(/trouble: Another process holds the lane's lease now/, PROCESS_WITHIN_MS);
    expect((await fixture.readJob(jobId)).steps[0]!.attempts).toEqual(attempts);
    await expectEachStepOnce(jobId);
  });
});

import fc from 'fast-check';
import { Redis } from 'ioredis';

import { useRedis } from '../../../../test/harness/stack/borrow-redis.js';
import {
  FAILURE,
  sampleAttempt,
  sampleHash,
  sampleLane,
  sampleRequest,
  sampleSignature,
  sampleStep,
} from '../../test/sample-jobs.js';
import { isFinal, nextSignature, type JobEvent, type JobRecord, type LaneId, type PlannedStep } from '../jobs/job.js';
import { laneKey } from '../jobs/keys.js';
import type { StepWrite } from '../jobs/transition.js';
import { Journal } from './journal.js';

const WORKERS = 3;
const FIRST_NONCE = 40;

/** What must hold in whatever order the calls of several workers, clients and operators arrive. */
interface World {
  journal: Journal;
  redis: Redis;
  lane: LaneId;
  jobIds: string[];
  /** Each worker's token, most of them stale; and its last copy of each job, which may be long outdated. */
  tokens: number[];
  views: Map<string, JobRecord>[];
  /** By step: every nonce that a reservation returned, and every hash that was stored. */
  nonces: Map<string, Set<number>>;
}

type Model = Record<string, never>;

const CALLS = [
  'look',
  'plan',
  'plan two steps',
  'plan a payment',
  'sign a payment',
  'answer a payment',
  'void a payment',
  'expire the approval',
  'fail plan',
  'fail plan with undo',
  'skip',
  'reserve',
  'sign',
  'replace',
  'sign a cancellation',
  'drop the cancellation',
  'broadcast',
  'mine',
  'unmine',
  'finish',
  'finish with undo',
  'fail',
  'fail with undo',
  'need operator',
] as const;

type WorkArguments = ConstructorParameters<typeof Work>;

class Work implements fc.AsyncCommand<Model, World> {
  constructor(
    readonly call: (typeof CALLS)[number],
    readonly worker: number,
    readonly job: number,
    readonly choice: number,
  ) {}
  check = () => true;

  async run(_: Model, world: World): Promise<void> {
    const { journal, jobIds, views, tokens } = world;
    const jobId = jobIds[this.job % jobIds.length];
    if (jobId === undefined) return;
    const view = views[this.worker]!;
    if (this.call === 'look' || !view.has(jobId)) view.set(jobId, (await journal.readJob(jobId))!);
    const seen = view.get(jobId)!;
    const write = { jobId, stepIndex: seen.stepIndex, token: tokens[this.worker]! };
    await this.#make(world, seen, write);
  }

  async #make({ journal, nonces }: World, seen: JobRecord, write: StepWrite): Promise<void> {
    const step = seen.steps[seen.stepIndex];
    const attempts = step?.attempts ?? [];
    const hash = attempts[this.choice % Math.max(1, attempts.length)]?.hash ?? sampleHash();
    const end = { ...write, failure: FAILURE, givesBackSpending: this.choice % 2 === 0 };
    const blockHash = step?.mined?.blockHash ?? sampleHash();
    const plan = (steps: PlannedStep[]) =>
      journal.putPlan({
        ...write,
        steps,
        plan: null,
        floorsHash: String(this.choice % 2),
        needsApproval: this.choice % 3 === 0,
      });
    const sign = (kind: 'first' | 'replacement' | 'cancel') =>
      journal.putAttempt({
        ...write,
        expectedAttempts: attempts.length,
        nonce: step?.nonce ?? FIRST_NONCE,
        attempt: sampleAttempt(kind),
      });
    switch (this.call) {
      case 'look':
        return;
      case 'plan':
        return void (await plan([sampleStep('swap')]));
      case 'plan two steps':
        return void (await plan([sampleStep('approve'), sampleStep('swap')]));
      case 'plan a payment':
        return void (await plan([sampleSignature(`0x${'ab'.repeat(20)}`)]));
      case 'sign a payment': {
        const signed = step ?? sampleStep('swap');
        return void (await journal.putSignature({
          ...write,
          number: nextSignature(seen),
          signed,
          bytes: sampleHash(),
        }));
      }
      case 'answer a payment':
      case 'void a payment': {
        const number = step?.signature?.number ?? 1;
        return void (await journal.finishSignature({ ...write, number, isVoid: this.call === 'void a payment' }));
      }
      case 'expire the approval':
        return void (await journal.expireApproval({ ...write, waitedMs: 0, failure: FAILURE }));
      case 'fail plan':
        return void (await journal.failPlan(end));
      case 'fail plan with undo':
        return void (await journal.failPlan({ ...end, undo: [sampleStep('revoke')] }));
      case 'skip':
        return void (await journal.skipStep(write));
      case 'reserve': {
        const result = await journal.reserve({ ...write, maxInFlight: 5 });
        const name = `${write.jobId}/${write.stepIndex}`;
        if ('nonce' in result) nonces.set(name, (nonces.get(name) ?? new Set()).add(result.nonce));
        return;
      }
      case 'sign':
        return void (await sign('first'));
      case 'replace':
        return void (await sign('replacement'));
      case 'sign a cancellation':
        return void (await sign('cancel'));
      case 'drop the cancellation':
        return void (await journal.dropCancel({ ...write, hash, failure: FAILURE }));
      case 'broadcast':
        return void (await journal.markBroadcast({ ...write, hash }));
      case 'mine': {
        const mined = { hash, blockNumber: this.choice, blockHash: sampleHash() };
        return void (await journal.markMined({ ...write, mined }));
      }
      case 'unmine':
        return void (await journal.unmine({ ...write, blockHash }));
      case 'finish':
        return void (await journal.finishStep({ ...write, blockHash }));
      case 'finish with undo':
        return void (await journal.finishStep({ ...write, blockHash, undo: [sampleStep('revoke')] }));
      case 'fail':
        return void (await journal.failStep({ ...end, blockHash }));
      case 'fail with undo':
        return void (await journal.failStep({ ...end, blockHash, undo: [sampleStep('revoke')] }));
      case 'need operator':
        return void (await journal.needOperator({ ...write, failure: FAILURE }));
    }
  }

  toString = () => `worker ${this.worker}: ${this.call} of job ${this.job} (${this.choice})`;
}

const OUTSIDE = ['submit', 'approve', 'reject', 'cancel', 'resume', 'abandon', 'take the lease'] as const;

class FromOutside implements fc.AsyncCommand<Model, World> {
  constructor(
    readonly call: (typeof OUTSIDE)[number],
    readonly job: number,
    readonly worker: number,
  ) {}
  check = () => true;

  async run(_: Model, { journal, redis, lane, jobIds, tokens }: World): Promise<void> {
    const jobId = jobIds[this.job % Math.max(1, jobIds.length)] ?? '';
    switch (this.call) {
      case 'submit': {
        const result = await journal.submit(sampleRequest(lane));
        if ('jobId' in result) jobIds.push(result.jobId);
        return;
      }
      case 'approve':
        for (const floorsHash of ['0', '1']) await journal.approve({ jobId, floorsHash, approvedBy: 'boss' });
        return;
      case 'reject':
        return void (await journal.reject({ jobId, failure: FAILURE }));
      case 'cancel':
        return void (await journal.cancel(jobId));
      case 'resume':
        return void (await journal.resumeJob(jobId));
      case 'abandon':
        return void (await journal.abandonJob({ jobId, minedNonce: FIRST_NONCE + (this.job % 4), failure: FAILURE }));
      case 'take the lease':
        await redis.hset(laneKey(lane), 'leaseUntil', '0');
        tokens[this.worker] = (await journal.takeLease(lane, `worker-${this.worker}`, 600_000))!.token;
    }
  }

  toString = () => `${this.call} of job ${this.job} (worker ${this.worker})`;
}

describe('the journal under random interleavings', () => {
  const redis = useRedis();
  const journal = new Journal({ redis });

  beforeAll(async () => {
    await journal.open();
  });

  const createWorld = async (): Promise<World> => {
    const lane = sampleLane();
    await journal.adopt(lane, { pendingNonce: FIRST_NONCE });
    const { token } = (await journal.takeLease(lane, 'worker-0', 600_000))!;
    const views = Array.from({ length: WORKERS }, () => new Map<string, JobRecord>());
    return { journal, redis, lane, jobIds: [], tokens: [token, 0, 0], views, nonces: new Map() };
  };

  async function assertInvariants({ lane, jobIds, nonces }: World): Promise<void> {
    const jobs = (await journal.readJobs(jobIds)).map((job) => job!);
    const events = await journal.outbox.read(lane, { after: 0, count: 10_000 });
    const status = await journal.readLane(lane);
    assertNonces(jobs, nonces, status.nextNonce!);
    jobs.forEach((job) =>
      assertJob(
        job,
        events.filter(({ jobId }) => jobId === job.id),
      ),
    );
    expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, index) => index + 1));

    const open = jobs.filter(({ state }) => !isFinal(state) && state !== 'NEEDS_OPERATOR');
    expect(new Set(await journal.readOpenJobs(lane))).toEqual(new Set(open.map(({ id }) => id)));
    const inFlight = open.filter((job) => (job.steps[job.stepIndex]?.nonce ?? null) !== null);
    expect((await journal.readInFlight(lane)).map(({ jobId, stepIndex }) => `${jobId}/${stepIndex}`).sort()).toEqual(
      inFlight.map(({ id, stepIndex }) => `${id}/${stepIndex}`).sort(),
    );
    expect(status.unminedSteps).toBe(inFlight.filter(({ state }) => state !== 'MINED').length);
  }

  /** One nonce per step, whichever worker asked; no two steps share one; no number below the counter is left out. */
  function assertNonces(jobs: readonly JobRecord[], answered: Map<string, Set<number>>, next: number): void {
    const allocated = jobs.flatMap(({ steps }) => steps.flatMap(({ nonce }) => nonce ?? [])).sort((a, b) => a - b);
    expect(allocated).toEqual(Array.from({ length: next - FIRST_NONCE }, (_, index) => FIRST_NONCE + index));
    for (const [name, said] of answered) {
      const [jobId, index] = name.split('/');
      const step = jobs.find(({ id }) => id === jobId)!.steps[Number(index)];
      expect([...said]).toEqual([step!.nonce]);
    }
  }

  function assertJob(job: JobRecord, events: readonly JobEvent[]): void {
    for (const step of job.steps) {
      if (step.attempts.length > 0) expect(step.nonce).not.toBeNull();
      if (step.skipped) expect(step.nonce).toBeNull();
      // What can still move money is the only signature of its step, which has no nonce, in a job that has not ended.
      const isLive = (step.signature?.bytes ?? null) !== null;
      if (isLive) expect([step.nonce, step.attempts]).toEqual([null, []]);
      if (isLive) expect(['SIGNED', 'NEEDS_OPERATOR']).toContain(job.state);
      if (job.state === 'SIGNED' && job.steps[job.stepIndex] === step) expect(isLive).toBe(step.nonce === null);
      if (step.mined) expect(step.attempts.map(({ hash }) => hash)).toContain(step.mined.hash);
      expect(step.attempts.filter(({ kind }) => kind === 'first').length).toBeLessThanOrEqual(1);
      const afterCancel = step.attempts.slice(step.attempts.findIndex(({ kind }) => kind === 'cancel') + 1);
      if (step.attempts.some(({ kind }) => kind === 'cancel')) {
        expect(afterCancel.every(({ kind }) => kind === 'cancel')).toBe(true);
      }
      // No job that ended by itself may leave a nonce unused.
      if (isFinal(job.state) && step.nonce !== null && step.mined === null) expect(job.state).toBe('CANCELLED');
    }
    const submitted = events.filter(({ type }) => type === 'transactionSubmitted').map(({ txHash }) => txHash);
    const sent = job.steps.flatMap(({ attempts }) => attempts.filter(({ sentAtMs }) => sentAtMs !== null));
    expect(submitted.sort()).toEqual(sent.map(({ hash }) => hash).sort());
    const final = events.filter(({ state }) => isFinal(state));
    expect(final.map(({ state }) => state)).toEqual(isFinal(job.state) ? [job.state] : []);
    if (isFinal(job.state)) expect(events.at(-1)).toEqual(final[0]);
    expect(job.failure !== null).toBe(job.state === 'NEEDS_OPERATOR' || (isFinal(job.state) && job.state !== 'FINAL'));
    expect(new Set(events.map(({ id }) => id)).size).toBe(events.length);
  }

  const work: fc.Arbitrary<WorkArguments> = fc.tuple(
    fc.constantFrom(...CALLS),
    fc.nat(WORKERS - 1),
    fc.nat(3),
    fc.nat(5),
  );
  /** A worker that reads the state and makes a fitting call, so that jobs advance. */
  const likely: fc.Arbitrary<WorkArguments> = fc.tuple(
    fc.constantFrom<Work['call'][]>(
      'look',
      'plan',
      'plan two steps',
      'reserve',
      'sign',
      'broadcast',
      'mine',
      'finish',
      'look',
      'sign a cancellation',
    ),
    fc.constant(0),
    fc.nat(1),
    fc.constant(1),
  );
  /** The same, of jobs that pay by signatures. */
  const paying: fc.Arbitrary<WorkArguments> = fc.tuple(
    fc.constantFrom<Work['call'][]>('look', 'plan a payment', 'sign a payment', 'answer a payment', 'void a payment'),
    fc.constant(0),
    fc.constantFrom(2, 3),
    fc.constant(1),
  );
  const outside = fc.tuple(fc.constantFrom(...OUTSIDE), fc.nat(3), fc.nat(WORKERS - 1));
  const commands = fc.commands(
    [
      work.map((args) => new Work(...args)),
      likely.map((args) => new Work(...args)),
      likely.map((args) => new Work(...args)),
      paying.map((args) => new Work(...args)),
      outside.map((args) => new FromOutside(...args)),
    ],
    { maxCommands: 150, size: 'max' },
  );

  it('keeps one nonce per step, no gaps, and one event for one end', async () => {
    const reached = new Set<string>();
    await fc.assert(
      fc.asyncProperty(commands, async (plan) => {
        const world = await createWorld();
        await fc.asyncModelRun(() => ({ model: {}, real: world }), plan);
        await assertInvariants(world);
        for (const job of await journal.readJobs(world.jobIds)) reached.add(job!.state);
      }),
      // The same sequences each time: other ones may not reach an end, and would then test nothing.
      { numRuns: 60, seed: 1 },
    );
    expect([...reached]).toEqual(
      expect.arrayContaining(['FINAL', 'CANCELLED', 'MINED', 'NEEDS_OPERATOR', 'PLAN_FAILED']),
    );
  });

  it('keeps them when the calls run concurrently', async () => {
    const batches = fc.array(fc.array(fc.oneof(work, likely, likely, paying), { minLength: 2, maxLength: 12 }), {
      minLength: 5,
      maxLength: 15,
    });
    await fc.assert(
      fc.asyncProperty(batches, async (plan) => {
        const world = await createWorld();
        world.tokens.fill(world.tokens[0]!);
        for (let index = 0; index < 3; index++) await new FromOutside('submit', 0, 0).run({}, world);
        for (const batch of plan) {
          world.views.forEach((view) => view.clear());
          await Promise.all(batch.map((args) => new Work(...args).run({}, world)));
          await assertInvariants(world);
        }
      }),
      { numRuns: 30 },
    );
  });
});

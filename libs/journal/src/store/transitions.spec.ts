import { FAILURE, planSample, sampleAttempt, sampleHash, sampleStep, submitSample } from '../../test/sample-jobs.js';
import { openLane, useJournal, type OpenLane } from '../../test/start-journal.js';
import { isFinal, type JobState } from '../jobs/job.js';
import type { StepWrite } from '../jobs/transition.js';
import { placeOf, STEP_RULES, type JobPlace } from '../steps/step-rules.js';

const BLOCK = sampleHash();
const ATTEMPT = sampleAttempt();
const CANCEL = sampleAttempt('cancel');
const MINED = { hash: ATTEMPT.hash, blockNumber: 9, blockHash: BLOCK };

/**
 * Stages that a job is brought to. `voided`: the job was cancelled after it had taken its nonce. `cancelling`: after a
 * server had its transaction, and its cancel is signed; `cancel sent`: and a server has it.
 */
type Stage = JobState | 'accepted' | 'voided' | 'cancelling' | 'cancel sent';

/** The state in the journal. */
const stateAt = (stage: Stage): JobState =>
  ({ accepted: 'PLANNED', voided: 'RESERVED', cancelling: 'BROADCAST', 'cancel sent': 'BROADCAST' } as const)[
    stage as 'accepted'
  ] ?? (stage as JobState);

const NO_NONCE: readonly Stage[] = ['accepted', 'AWAITING_APPROVAL', 'PLANNED'];
const SENT: readonly Stage[] = ['BROADCAST', 'cancelling', 'cancel sent'];
const WITH_NONCE: readonly Stage[] = ['RESERVED', 'voided', 'SIGNED', ...SENT];
const VOID: readonly Stage[] = ['voided', 'cancelling', 'cancel sent'];
const ENDED: readonly Stage[] = ['FINAL', 'REVERTED', 'CANCELLED', 'REJECTED', 'PLAN_FAILED'];
const STAGES: readonly Stage[] = [...NO_NONCE, ...WITH_NONCE, 'MINED', 'NEEDS_OPERATOR', ...ENDED];

/** This result at each of the stages; `->`, `=` or `cancelling` alone: in the state that the job has there. */
const at = (stages: readonly Stage[], result: string): Partial<Record<Stage, string>> =>
  Object.fromEntries(
    stages.map((stage) => [stage, /^(->|=|cancelling)$/.test(result) ? `${result} ${stateAt(stage)}` : result]),
  );

/** The job has ended: the call may be the one that ended it, repeated because its reply was lost. */
const REPEATED = at(ENDED, '=');

describe('every transition from every state', () => {
  const { journal } = useJournal();
  let { lane, token } = {} as OpenLane;

  beforeEach(async () => {
    ({ lane, token } = await openLane(journal));
  });

  const plan = (write: StepWrite, needsApproval = false) =>
    journal.putPlan({ ...write, steps: [sampleStep()], plan: 'p', floorsHash: 'floors', needsApproval });
  const reserve = (write: StepWrite) => journal.reserve({ ...write, maxInFlight: 10 });
  const attempt = (write: StepWrite, kind: 'first' | 'replacement' | 'cancel', expectedAttempts: number) =>
    journal.putAttempt({
      ...write,
      expectedAttempts,
      nonce: 0,
      attempt: { first: ATTEMPT, cancel: CANCEL, replacement: sampleAttempt(kind) }[kind],
    });
  const end = (write: StepWrite) => ({ ...write, failure: FAILURE, givesBackSpending: false, blockHash: BLOCK });

  async function reach(stage: Stage): Promise<StepWrite> {
    const write = await submitSample(journal, lane, token);
    const { jobId } = write;
    const path: Record<Stage, (() => Promise<unknown>)[]> = {
      accepted: [],
      AWAITING_APPROVAL: [() => plan(write, true)],
      PLANNED: [() => planSample(journal, write)],
      RESERVED: [() => planSample(journal, write), () => reserve(write)],
      voided: [() => planSample(journal, write), () => reserve(write), () => journal.cancel(jobId)],
      SIGNED: [() => planSample(journal, write), () => reserve(write), () => attempt(write, 'first', 0)],
      BROADCAST: [],
      cancelling: [],
      'cancel sent': [],
      MINED: [],
      NEEDS_OPERATOR: [
        () => planSample(journal, write),
        () => reserve(write),
        () => journal.needOperator({ ...write, failure: FAILURE }),
      ],
      FINAL: [],
      REVERTED: [],
      CANCELLED: [() => journal.cancel(jobId)],
      REJECTED: [() => plan(write, true), () => journal.reject({ jobId, failure: FAILURE })],
      PLAN_FAILED: [() => journal.failPlan(end(write))],
    };
    path.BROADCAST = [...path.SIGNED, () => journal.markBroadcast({ ...write, hash: ATTEMPT.hash })];
    path.cancelling = [...path.BROADCAST, () => journal.cancel(jobId), () => attempt(write, 'cancel', 1)];
    path['cancel sent'] = [...path.cancelling, () => journal.markBroadcast({ ...write, hash: CANCEL.hash })];
    path.MINED = [...path.BROADCAST, () => journal.markMined({ ...write, mined: MINED })];
    path.FINAL = [...path.MINED, () => journal.finishStep({ ...write, blockHash: BLOCK })];
    path.REVERTED = [...path.MINED, () => journal.failStep(end(write))];
    for (const go of path[stage]) await go();
    expect((await journal.readJob(jobId))!.state).toBe(stateAt(stage));
    return write;
  }

  const transitions = {
    approve: ({ jobId }) => journal.approve({ jobId, floorsHash: 'floors', approvedBy: 'key-2' }),
    'approve other floors': ({ jobId }) => journal.approve({ jobId, floorsHash: 'higher', approvedBy: 'key-2' }),
    'approve the own job': ({ jobId }) => journal.approve({ jobId, floorsHash: 'floors', approvedBy: 'key-1' }),
    reject: ({ jobId }) => journal.reject({ jobId, failure: FAILURE }),
    cancel: ({ jobId }) => journal.cancel(jobId),
    putPlan: (write) => plan(write),
    'putPlan that needs approval': (write) => plan(write, true),
    expireApproval: (write) => journal.expireApproval({ ...write, waitedMs: 0, failure: FAILURE }),
    'expireApproval too early': (write) => journal.expireApproval({ ...write, waitedMs: 86_400_000, failure: FAILURE }),
    failPlan: (write) => journal.failPlan(end(write)),
    'failPlan with undo': (write) => journal.failPlan({ ...end(write), undo: [sampleStep('revoke')] }),
    skipStep: (write) => journal.skipStep(write),
    reserve: (write) => reserve(write),
    'put the first attempt': (write) => attempt(write, 'first', 0),
    'put a replacement': (write) => attempt(write, 'replacement', 1),
    'put a cancelling attempt': (write) => attempt(write, 'cancel', 0),
    'put an attempt with another nonce': (write) =>
      journal.putAttempt({ ...write, expectedAttempts: 0, nonce: 1, attempt: ATTEMPT }),
    failAttempt: (write) => journal.failAttempt({ ...end(write), hash: ATTEMPT.hash }),
    dropCancel: (write) => journal.dropCancel({ ...write, hash: CANCEL.hash, failure: FAILURE }),
    markBroadcast: (write) => journal.markBroadcast({ ...write, hash: ATTEMPT.hash }),
    'markBroadcast of an unknown hash': (write) => journal.markBroadcast({ ...write, hash: BLOCK }),
    markMined: (write) => journal.markMined({ ...write, mined: MINED }),
    'markMined of an unknown hash': (write) => journal.markMined({ ...write, mined: { ...MINED, hash: BLOCK } }),
    unmine: (write) => journal.unmine({ ...write, blockHash: BLOCK }),
    'unmine of another block': (write) => journal.unmine({ ...write, blockHash: ATTEMPT.hash }),
    finishStep: (write) => journal.finishStep({ ...write, blockHash: BLOCK }),
    'finishStep with undo': (write) => journal.finishStep({ ...write, blockHash: BLOCK, undo: [sampleStep('revoke')] }),
    'finishStep in another block': (write) => journal.finishStep({ ...write, blockHash: ATTEMPT.hash }),
    failStep: (write) => journal.failStep(end(write)),
    'failStep with undo': (write) => journal.failStep({ ...end(write), undo: [sampleStep('revoke')] }),
    'failStep in another block': (write) => journal.failStep({ ...end(write), blockHash: ATTEMPT.hash }),
    needOperator: (write) => journal.needOperator({ ...write, failure: FAILURE }),
    endFill: (write) => journal.endFill({ ...write, failure: FAILURE }),
    speedUp: ({ jobId }) => journal.speedUp(jobId),
    resumeJob: ({ jobId }) => journal.resumeJob(jobId),
    'abandonJob while its nonce is unused': ({ jobId }) =>
      journal.abandonJob({ jobId, minedNonce: 0, failure: FAILURE }),
    'abandonJob when its nonce is used': ({ jobId }) => journal.abandonJob({ jobId, minedNonce: 1, failure: FAILURE }),
    reserveSpending: (write) =>
      journal.reserveSpending({ ...write, spendings: [{ asset: 'native', amount: 1n, limit: null }] }),
    takeLocks: (write) => journal.takeLocks({ ...write, locks: ['one'] }),
  } satisfies Record<string, (write: StepWrite) => Promise<{ outcome: string }>>;

  type Name = keyof typeof transitions;

  /** The transitions of each write that the rules name, where one follows from the place alone. */
  const WRITES: Partial<Record<string, Name[]>> = {
    ...Object.fromEntries(Object.keys(transitions).map((name) => [name, [name as Name]])),
    beginStep: ['putPlan'],
    finishMined: ['markMined'],
    parkMined: ['needOperator'],
    putFirst: ['put the first attempt'],
  };

  /** Any pair that is missing here is refused with `wrong_state`. `->`: made; `=`: already made. */
  const TABLE: Record<Name, Partial<Record<Stage, string>>> = {
    approve: { AWAITING_APPROVAL: '-> PLANNED' },
    'approve other floors': { AWAITING_APPROVAL: 'floors_changed' },
    'approve the own job': at(STAGES, 'own_job'),
    reject: { AWAITING_APPROVAL: '-> REJECTED', REJECTED: '= REJECTED' },
    cancel: {
      ...at(NO_NONCE, '-> CANCELLED'),
      ...at(WITH_NONCE, 'cancelling'),
      ...at(['MINED', ...ENDED], 'too_late'),
      CANCELLED: '= CANCELLED',
    },
    putPlan: { ...at(NO_NONCE, '-> PLANNED'), RESERVED: '-> RESERVED', ...at(VOID, 'ending') },
    'putPlan that needs approval': {
      ...at(NO_NONCE, '-> AWAITING_APPROVAL'),
      RESERVED: 'floors_changed',
      ...at(VOID, 'ending'),
    },
    expireApproval: { AWAITING_APPROVAL: '-> REJECTED', ...REPEATED },
    'expireApproval too early': { AWAITING_APPROVAL: 'too_early', ...REPEATED },
    failPlan: { ...at(NO_NONCE, '-> PLAN_FAILED'), RESERVED: '-> RESERVED', voided: '= RESERVED', ...REPEATED },
    'failPlan with undo': { ...at(NO_NONCE, '-> PLANNED'), RESERVED: '-> RESERVED', voided: '= RESERVED', ...REPEATED },
    skipStep: { PLANNED: '-> FINAL', ...REPEATED },
    reserve: { PLANNED: '-> RESERVED', ...at([...WITH_NONCE, 'MINED'], '=') },
    'put the first attempt': { RESERVED: '-> SIGNED', voided: 'ending', ...at(['SIGNED', ...SENT], '=') },
    'put a replacement': { ...at(['RESERVED', ...VOID], 'lost_race'), ...at(['SIGNED', 'BROADCAST'], '->') },
    'put a cancelling attempt': { voided: '-> SIGNED', ...at(['SIGNED', ...SENT], 'lost_race') },
    'put an attempt with another nonce': at(WITH_NONCE, 'wrong_nonce'),
    failAttempt: { SIGNED: '-> SIGNED', ...REPEATED },
    dropCancel: {
      ...at(['SIGNED', 'BROADCAST'], '='),
      cancelling: '-> BROADCAST',
      'cancel sent': 'lost_race',
      ...REPEATED,
    },
    markBroadcast: { SIGNED: '-> BROADCAST', ...at([...SENT, 'MINED'], '='), ...REPEATED },
    'markBroadcast of an unknown hash': REPEATED,
    markMined: { ...at(['SIGNED', ...SENT], '-> MINED'), MINED: '= MINED' },
    'markMined of an unknown hash': {},
    unmine: { ...at(SENT, '='), MINED: '-> BROADCAST' },
    'unmine of another block': at([...SENT, 'MINED'], '='),
    finishStep: { MINED: '-> FINAL', ...REPEATED },
    'finishStep with undo': { MINED: '-> PLANNED', ...REPEATED },
    'finishStep in another block': { MINED: 'lost_race', ...REPEATED },
    failStep: { MINED: '-> REVERTED', ...REPEATED },
    'failStep with undo': { MINED: '-> PLANNED', ...REPEATED },
    'failStep in another block': { MINED: 'lost_race', ...REPEATED },
    needOperator: {
      ...at([...NO_NONCE, ...WITH_NONCE, 'MINED'], '-> NEEDS_OPERATOR'),
      NEEDS_OPERATOR: '= NEEDS_OPERATOR',
    },
    endFill: { ...at(VOID, '-> CANCELLED'), ...REPEATED },
    speedUp: at(['SIGNED', ...SENT], '->'),
    resumeJob: { ...at([...NO_NONCE, ...WITH_NONCE, 'MINED'], '='), NEEDS_OPERATOR: '-> RESERVED' },
    'abandonJob while its nonce is unused': { NEEDS_OPERATOR: 'nonce_unused', CANCELLED: '= CANCELLED' },
    'abandonJob when its nonce is used': { NEEDS_OPERATOR: '-> CANCELLED', CANCELLED: '= CANCELLED' },
    reserveSpending: at([...NO_NONCE, 'RESERVED', 'voided'], '->'),
    takeLocks: at([...NO_NONCE, ...WITH_NONCE, 'MINED'], '->'),
  };

  const describeResult = (result: { outcome: string; reason?: string; state?: JobState | null }): string => {
    if (result.outcome === 'refused') return result.reason ?? '';
    const sign = { done: '->', unchanged: '=' }[result.outcome] ?? result.outcome;
    return `${sign} ${result.state}`;
  };

  it.each<[Stage, JobPlace, unmet: string]>([
    ['AWAITING_APPROVAL', 'approval', ''],
    ['PLANNED', 'unplanned', ''],
    ['RESERVED', 'reserved', ''],
    // Without bytes, none can be mined.
    ['voided', 'void', 'markMined'],
    ['SIGNED', 'signed', ''],
    ['BROADCAST', 'sent', ''],
    ['cancelling', 'cancelling', ''],
    ['cancel sent', 'using_up', ''],
    ['MINED', 'mined', ''],
    ['NEEDS_OPERATOR', 'parked', ''],
    ...ENDED.map((stage): [Stage, JobPlace, string] => [stage, 'ended', '']),
  ])('is what the rules of its place are for: %s is %s', async (stage, place, unmet) => {
    const { jobId } = await reach(stage);
    expect(placeOf((await journal.readJob(jobId))!)).toBe(place);
    // Each write that the rules name here is one that the journal takes here.
    for (const row of Object.values(STEP_RULES) as Partial<Record<JobPlace, string>>[]) {
      const write = row[place] ?? 'wait';
      const names = (WRITES[write] ?? []).filter((name) => name !== unmet);
      for (const name of names) expect([name, TABLE[name][stage]]).toEqual([name, expect.stringMatching(/^(->|=)/)]);
    }
  });

  it('ends as cancelled if a cancel is mined after all that every server had refused', async () => {
    const write = await reach('cancelling');
    await journal.dropCancel({ ...write, hash: CANCEL.hash, failure: FAILURE });
    const dropped = (await journal.readJob(write.jobId))!;
    expect(dropped).toMatchObject({ ending: null, cancelRefused: FAILURE });
    expect(placeOf(dropped)).toBe('sent');
    await journal.markMined({ ...write, mined: { ...MINED, hash: CANCEL.hash } });
    await journal.finishStep({ ...write, blockHash: BLOCK });
    expect(await journal.readJob(write.jobId)).toMatchObject({
      state: 'CANCELLED',
      failure: { code: 'JOB_CANCELLED' },
      cancelRefused: null,
    });
  });

  const everything = async (jobId: string) => ({
    job: await journal.readJob(jobId),
    lane: await journal.readLane(lane),
    open: await journal.readOpenJobs(lane),
    flight: await journal.readInFlight(lane),
  });

  describe.each(Object.keys(TABLE) as Name[])('%s', (name) => {
    it.each(STAGES)('from %s', async (stage) => {
      const write = await reach(stage);
      const before = await everything(write.jobId);
      const result = await transitions[name](write);
      expect(describeResult(result)).toBe(TABLE[name][stage] ?? 'wrong_state');

      const after = await everything(write.jobId);
      if (result.outcome !== 'done' && result.outcome !== 'cancelling') expect(after).toEqual(before);
      // Invariants that no transition may violate, checked apart from the table.
      expect(after.open).toEqual(
        isFinal(after.job!.state) || after.job!.state === 'NEEDS_OPERATOR' ? [] : [write.jobId],
      );
      const reports = (await journal.outbox.read(lane, { after: 0 })).filter(({ state }) => isFinal(state));
      expect(reports.map(({ state }) => state)).toEqual(isFinal(after.job!.state) ? [after.job!.state] : []);

      // Repeating the same call, as after a lost reply, makes no second difference.
      if (result.outcome !== 'done') return;
      await transitions[name](write);
      const again = await everything(write.jobId);
      expect(again).toMatchObject({ ...after, job: { ...after.job, updatedAtMs: expect.any(Number) } });
    });
  });

  const workers = Object.keys(transitions).filter(
    (name) => !/^(approve|reject|cancel|speedUp|resumeJob|abandonJob)/.test(name),
  ) as Name[];

  it.each(['PLANNED', 'RESERVED', 'SIGNED', 'BROADCAST', 'MINED'] as const)(
    'refuses every write of a worker with a stale lease or another step, in %s',
    async (stage) => {
      const write = await reach(stage);
      const before = await everything(write.jobId);
      for (const name of workers) {
        const early = await transitions[name]({ ...write, stepIndex: 3 });
        expect({ name, ...early }).toMatchObject({ name, outcome: 'refused' });
        const unleased = await transitions[name]({ ...write, token: token - 1 });
        expect({ name, ...unleased }).toMatchObject({ name, reason: 'stale_token' });
        const unknown = await transitions[name]({ ...write, jobId: write.jobId.replace(/.{4}$/, '0000') });
        expect({ name, ...unknown }).toMatchObject({ name, reason: 'not_found' });
      }
      expect(await everything(write.jobId)).toEqual(before);
    },
  );
});

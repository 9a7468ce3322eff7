import type { JobRecord, StepRecord } from '@tollgate/journal';

import { sampleLane, sampleSignature } from '../../../journal/test/sample-jobs.js';
import { describeAbandoned } from '../decisions/refusals.js';
import { findRetryFault } from '../decisions/retry-job.js';
import { describeJob } from './describe-job.js';
import { digestPlan, listCalls } from './digests.js';

const lane = sampleLane();
const bytes = `0x${'c0ffee'.repeat(21)}aa1b` as const;

const jobWith = (changes: Partial<JobRecord>, signature: StepRecord['signature']): JobRecord => {
  const state = { nonce: null, attempts: [], signature, mined: null, skipped: false, voided: false };
  return {
    id: 'j1',
    lane,
    operation: 'payment',
    input: { url: 'https://shop.example/' },
    wallet: 'main',
    keyId: 'k',
    fingerprint: 'f',
    submittedAtMs: 0,
    updatedAtMs: 0,
    endedAtMs: null,
    retryOf: null,
    plan: null,
    approval: { floorsHash: 'f', approvedBy: null },
    ending: null,
    failure: null,
    cancelRefused: null,
    waiting: null,
    details: {},
    state: 'SIGNED',
    stepIndex: 0,
    steps: [{ ...sampleSignature(lane.address), ...state }],
    ...changes,
  };
};
const live = { number: 1, signedAtMs: 0, bytes };
const gone = { ...live, bytes: null };

describe('a job with a signed payment', () => {
  it.each<[StepRecord['signature'], JobRecord['state'], string]>([
    [null, 'PLANNED', 'planned'],
    [live, 'SIGNED', 'signed'],
    [live, 'NEEDS_OPERATOR', 'signed'],
    [gone, 'PLANNED', 'planned'],
    [gone, 'CANCELLED', 'given_up'],
    [gone, 'FINAL', 'done'],
  ])('with the signature %j, %s, shows its step as %s, and never the signature', (signature, state, shown) => {
    const view = describeJob(jobWith({ state }, signature), {});
    expect(view.steps).toMatchObject([{ state: shown, nonce: null, attempts: [] }]);
    expect(JSON.stringify(view)).not.toContain('c0ffee');
  });

  it('says since when and for what it waits', () => {
    const why = { code: 'answer', message: 'No answer yet.', suggestion: 'Wait.' } as const;
    expect(describeJob(jobWith({ waiting: { ...why, sinceMs: 60_000 } }, live), {}).waiting).toEqual({
      ...why,
      since: '1970-01-01T00:01:00.000Z',
    });
    expect(describeJob(jobWith({}, live), {}).waiting).toBeNull();
  });

  it('has no calls to review: the digest of its plan has its bounds', () => {
    expect(listCalls(jobWith({}, live))).toEqual([]);
    expect(digestPlan(jobWith({}, live))).not.toEqual(
      digestPlan(jobWith({ approval: { floorsHash: 'dearer', approvedBy: null } }, live)),
    );
  });

  it('says how long its money can still be taken when it is abandoned', () => {
    // As in the sample: 1,900,000,000 seconds.
    expect(describeAbandoned(jobWith({}, live)).message).toContain('until 2030-03-17T17:46:40.000Z');
    expect(describeAbandoned(jobWith({}, gone)).message).toBe('An operator abandoned the job.');
  });

  it('is not retried after it was abandoned, before its money can no longer be taken', () => {
    const signed = jobWith({}, live);
    const abandoned = { ...jobWith({ state: 'CANCELLED' }, gone), failure: describeAbandoned(signed) };
    expect(findRetryFault(abandoned)).toBe('may_still_pay');
    expect(findRetryFault({ ...abandoned, failure: null })).toBeNull();
    jest.useFakeTimers({ now: 1_900_000_000_000 });
    expect(findRetryFault(abandoned)).toBeNull();
    jest.useRealTimers();
  });
});

import { nextWrite, PLACES, STEP_RULES, type JobPlace, type StepFact } from './step-rules.js';

const FACTS = Object.keys(STEP_RULES) as StepFact[];
const CELLS = FACTS.flatMap((fact) => PLACES.map((place) => [fact, place, nextWrite(fact, place)] as const));

/** Places at which an RPC server may have bytes of the step. */
const WITH_BYTES: readonly JobPlace[] = ['signed', 'sent', 'void', 'cancelling', 'using_up', 'mined'];
const ABOUT_PLANS: readonly StepFact[] = [
  'unplannable',
  'floors_changed',
  'lock_held',
  'over_limit',
  'planned',
  'effect_is_there',
  'signs',
];
const ABOUT_SIGNATURES: readonly StepFact[] = ['paid', 'unpaid', 'paid_in_doubt'];
const ANSWERS: readonly StepFact[] = [
  'accepted',
  'insufficient_funds',
  'refused',
  'unknown',
  'underpriced',
  'nonce_used',
];
const ABOUT_BLOCKS: readonly StepFact[] = ['mined', 'succeeded', 'failed', 'mined_in_doubt', 'reorganized'];

/** The cells in which this may follow. */
const where = (...writes: string[]): string[] =>
  CELLS.filter(([, , write]) => writes.includes(write)).map(([fact, place]) => `${fact} ${place}`);

describe('the rules of a step', () => {
  it('are for facts of these kinds', () => {
    const kinds = [ABOUT_PLANS, ANSWERS, ABOUT_BLOCKS, ABOUT_SIGNATURES, ['read', 'too_slow', 'nonce_is_used']].flat();
    expect(FACTS.toSorted()).toEqual(kinds.toSorted());
  });

  it.each(CELLS)('after %s at %s: %s', (fact, place, write) => {
    // Nothing follows from a fact that cannot be, whatever an old message says.
    if (['parked', 'ended', 'approval', 'giving_up'].includes(place) && fact !== 'read') expect(write).toBe('wait');
    if (ANSWERS.includes(fact) && !WITH_BYTES.includes(place)) expect(write).toBe('wait');
    if (ABOUT_BLOCKS.includes(fact) && !WITH_BYTES.includes(place)) expect(write).toBe('wait');
    if (ABOUT_PLANS.includes(fact) && WITH_BYTES.includes(place)) expect(write).toBe('wait');
    if (ABOUT_SIGNATURES.includes(fact) !== (place === 'presented' && fact !== 'read'))
      expect(ABOUT_SIGNATURES.includes(fact) ? write : 'wait').toBe('wait');
    // A later transaction of the wallet waits for this nonce, so the plan's fate decides at once.
    if (place === 'reserved' && ABOUT_PLANS.includes(fact) && fact !== 'signs') expect(write).not.toBe('wait');
  });

  it('end a job only where no nonce is taken, or its transaction is mined or cancelled by another', () => {
    expect(where('skipStep', 'leave')).toEqual(['read ended', 'effect_is_there unplanned']);
    // With a nonce, `failPlan` and `failAttempt` give the step up, and a cancel uses the nonce.
    expect(where('failPlan')).toEqual([
      'read giving_up',
      'unplannable unplanned',
      'unplannable reserved',
      'floors_changed reserved',
      'lock_held reserved',
      'over_limit unplanned',
      'over_limit reserved',
    ]);
    expect(where('failAttempt')).toEqual(['refused signed']);
    expect(where('failStep', 'unmine', 'parkMined')).toEqual([
      'failed mined',
      'mined_in_doubt mined',
      'reorganized mined',
    ]);
    expect(where('finishMined')).toEqual(WITH_BYTES.map((place) => `succeeded ${place}`));
    expect(where('finishSignature')).toEqual(['paid presented', 'unpaid presented']);
  });

  it('call an operator only for a nonce that something else has used, and for money that may have moved', () => {
    const withNonce = ['reserved', 'signed', 'sent', 'void', 'cancelling', 'using_up'];
    expect(where('needOperator')).toEqual([
      ...withNonce.map((place) => `nonce_is_used ${place}`),
      'paid_in_doubt presented',
    ]);
  });

  it('sign something new only where a step has a nonce and nothing is mined', () => {
    expect(where('putFirst')).toEqual(['effect_is_there reserved', 'planned reserved']);
    expect(where('putCancel')).toEqual(['read void', 'too_slow void']);
    expect(where('putReplacement')).toEqual(
      ['signed', 'sent', 'cancelling', 'using_up'].map((place) => `too_slow ${place}`),
    );
    expect(where('putSignature')).toEqual(['signs unplanned']);
  });

  it('leave a job where it was when its cancel is refused, unless nothing else can use the nonce', () => {
    expect(where('dropCancel', 'putOff')).toEqual(['refused cancelling', 'refused using_up']);
  });

  it('stop the lane only for a wallet that cannot pay', () => {
    expect(where('pauseLane')).toEqual(
      ['signed', 'sent', 'cancelling', 'using_up'].map((place) => `insufficient_funds ${place}`),
    );
  });
});

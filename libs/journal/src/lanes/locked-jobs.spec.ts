import { LockedJobs } from './locked-jobs.js';

const USDC = '0xaa:0xee';
const WSEI = '0xbb:0xee';

describe('jobs that wait for a lock', () => {
  let locked: LockedJobs;

  beforeEach(() => {
    locked = new LockedJobs();
  });

  it('are planned one at a time once the holder has ended, oldest first', () => {
    for (const jobId of ['a', 'b', 'c']) locked.note(jobId, [USDC], 'holder');
    expect(locked.takeFree()).toEqual([]);
    locked.release('holder');
    expect(locked.takeFree()).toEqual(['a']);
    expect(locked.takeFree()).toEqual([]);
    locked.leave('a', 'in_flight');
    expect(locked.takeFree()).toEqual([]);
    locked.release('a');
    expect(locked.takeFree()).toEqual(['b']);
  });

  it('are planned at once if they want different ones', () => {
    locked.note('a', [USDC], 'holder');
    locked.note('b', [WSEI], 'holder');
    locked.note('c', [WSEI, USDC], 'holder');
    locked.release('holder');
    expect(locked.takeFree()).toEqual(['a', 'b']);
  });

  it.each(['waiting', 'failed', 'ended'])('make room for the next one when the first is %s', (outcome) => {
    for (const jobId of ['a', 'b']) locked.note(jobId, [USDC], 'holder');
    locked.release('holder');
    locked.takeFree();
    locked.leave('a', outcome);
    expect(locked.has('a')).toBe(false);
    expect(locked.takeFree()).toEqual(['b']);
  });

  it('do not wait for a job that is refused again because of another allowance', () => {
    locked.note('a', [USDC, WSEI], 'holder');
    locked.note('b', [USDC], 'holder');
    locked.release('holder');
    expect(locked.takeFree()).toEqual(['a']);
    locked.note('a', [USDC, WSEI], 'parked');
    locked.leave('a', 'locked');
    expect(locked.takeFree()).toEqual(['b']);
  });

  it('do not wait for a holder whose end was seen before the refusal', () => {
    locked.release('holder');
    locked.note('a', [USDC], 'holder');
    locked.leave('a', 'locked');
    expect(locked.takeFree()).toEqual(['a']);
  });

  it('do not wait for a job that has ended before its turn has', () => {
    for (const jobId of ['a', 'b']) locked.note(jobId, [USDC], 'holder');
    locked.release('holder');
    locked.takeFree();
    locked.release('a');
    locked.leave('a', 'in_flight');
    expect(locked.takeFree()).toEqual(['b']);
  });

  it('keep their order, and cost one plan, if the allowance is still taken', () => {
    for (const jobId of ['a', 'b', 'c']) locked.note(jobId, [USDC], 'holder');
    locked.releaseAll();
    expect(locked.takeFree()).toEqual(['a']);
    locked.note('a', [USDC], 'holder');
    locked.leave('a', 'locked');
    expect(locked.takeFree()).toEqual([]);
    locked.release('holder');
    expect(locked.takeFree()).toEqual(['a']);
  });
});

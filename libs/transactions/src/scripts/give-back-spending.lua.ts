import { WORKER_LUA } from './job.lua.js';

/**
 * KEYS lane, job; ARGV token, step. Answers a transition.
 *
 * Atomic: taking the job's part out of the day's counters, once. If another call came between, it would be given back
 * twice, and the wallet could spend more than it may.
 */
export const GIVE_BACK_SPENDING_LUA = /* lua */ `${WORKER_LUA}
if is_other then return refused('wrong_step', state) end
if redis.call('HEXISTS', JOB, 'spending') == 0 then return unchanged(state) end
give_back()
return done(state)
`;

import { WORKER_LUA } from './job.lua.js';

/**
 * KEYS lane, job; ARGV token, step, failure. Answers a transition.
 *
 * Atomic: taking the job out of the open ones, and its event. If a crash came between, the job would wait for a person
 * whom nobody told.
 */
export const NEED_OPERATOR_LUA = /* lua */ `${WORKER_LUA}
if state == 'NEEDS_OPERATOR' then return unchanged(state) end
if FINAL[state] then return refused('wrong_state', state) end
if is_other then return refused('wrong_step', state) end
park(ARGV[3])
return done('NEEDS_OPERATOR')
`;

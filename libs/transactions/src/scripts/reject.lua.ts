/**
 * KEYS lane, job; ARGV failure. Answers a transition.
 *
 * Atomic: seeing that the job still waits, ending it, and its event. If an approval came between, a job that was
 * refused would be carried out; a job that has sent something already ends by the worker, who takes it back.
 */
export const REJECT_LUA = /* lua */ `
local state = redis.call('HGET', JOB, 'state')
if not state then return refused('not_found') end
if state == 'REJECTED' then return unchanged(state) end
if state ~= 'AWAITING_APPROVAL' then return refused('wrong_state', state) end
return reject_job(ARGV[1])
`;

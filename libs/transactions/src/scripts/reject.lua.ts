/**
 * KEYS lane, job; ARGV failure. Answers a transition.
 *
 * Atomic: seeing that the job still waits, ending it, and its event. If an approval came between, a job that was
 * refused would be carried out; a job that has sent something already ends by the worker, who takes it back.
 */
export const REJECT_LUA = /* lua */ `
local job = redis.call('HMGET', JOB, 'state', 'step')
local state = job[1]
if not state then return refused('not_found') end
if state == 'REJECTED' then return unchanged(state) end
if state ~= 'AWAITING_APPROVAL' then return refused('wrong_state', state) end
if job[2] ~= '0' then
  set_ending('REJECTED', ARGV[1], '0')
  set_state('PLANNED')
  return done('PLANNED')
end
end_job('REJECTED', ARGV[1], true)
return done('REJECTED')
`;

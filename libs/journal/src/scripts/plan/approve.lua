-- KEYS lane, job; ARGV floors hash, key id of the approver. Returns a transition.
--
-- Atomic: comparing the plan's bounds with the approved ones, and letting the job continue. If a new plan came between,
-- the approver would have approved a price it never saw.
local job = redis.call('HMGET', JOB, 'state', 'keyId', 'floorsHash', 'approvedHash')
local state = job[1]
if not state then return refused('not_found') end
if job[2] == ARGV[2] then return refused('own_job', state) end
if state ~= 'AWAITING_APPROVAL' then
  if job[4] == ARGV[1] and not FINAL[state] then return unchanged(state) end
  return refused('wrong_state', state)
end
if job[3] ~= ARGV[1] then return refused('floors_changed', state) end
redis.call('HSET', JOB, 'approvedHash', ARGV[1], 'approvedBy', ARGV[2])
set_state('PLANNED')
return done('PLANNED')

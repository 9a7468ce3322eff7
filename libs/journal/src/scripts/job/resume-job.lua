-- KEYS lane, job. Returns a transition.
--
-- Atomic: restoring the job's earlier state, and its place among the open jobs. If a crash came between, it would be
-- open but never looked at.
local job = redis.call('HMGET', JOB, 'state', 'step', 'parkedState', 'place')
local state, step, parked = job[1], job[2], job[3]
if not state then return refused('not_found') end
if FINAL[state] then return refused('wrong_state', state) end
if state ~= 'NEEDS_OPERATOR' then return unchanged(state) end
local nonce = redis.call('HGET', JOB, 'nonce:' .. step)
if nonce then
  redis.call('ZADD', key('flight'), nonce, flight_name(step))
  if parked ~= 'MINED' then redis.call('ZADD', key('unmined'), nonce, flight_name(step)) end
end
redis.call('ZADD', key('open'), job[4], ID)
redis.call('HDEL', JOB, 'parkedState', 'failure')
set_state(parked)
return done(parked)

-- KEYS lane, job; ARGV token, step, failure, or '' where the job waits for nothing any more, its code, for how many ms it
-- has waited already. Returns a transition.
--
-- Atomic: noting for what a job waits in its state, and the event. If the job moved in between, it would be reported as
-- waiting; if a crash came between, an event could be missing or written twice.
if is_past then return unchanged(state) end
if is_other then return refused('wrong_step', state) end
if state == 'NEEDS_OPERATOR' then return refused('wrong_state', state) end
if ARGV[3] == '' then
  redis.call('HDEL', JOB, 'waiting')
  return done(state)
end
-- It is valid only in this state at this step, so that a job that moves need not delete it.
local place, code = state .. ' ' .. step, ARGV[4]
local noted = redis.call('HMGET', JOB, 'waiting', 'at')
local known_place, since, known = string.match(noted[1] or '', '^(%S+ %d+) (%d+) (%S+)')
if known_place ~= place or known ~= code then
  since = text(math.max(now - tonumber(ARGV[5]), tonumber(noted[2])))
end
redis.call('HSET', JOB, 'waiting', table.concat({place, since, code, ARGV[3]}, ' '))
if redis.call('HSETNX', JOB, 'waited:' .. code, '1') == 1 then emit('transactionWaiting', state, nil, ARGV[3]) end
return done(state)

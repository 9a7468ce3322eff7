-- KEYS lane, job; ARGV token, step, then the name of each. Returns a transition, or a refusal with the holder.
--
-- Atomic: checking that all are free, and taking all. If another job came between, two jobs would use up or revoke each
-- other's allowance; if only some were taken, two jobs could wait for each other.
if is_other then return refused('wrong_step', state) end
if FINAL[state] or state == 'NEEDS_OPERATOR' then return refused('wrong_state', state) end
local held = redis.call('HGET', JOB, 'locks') or ''
local is_new = false
for index = 3, #ARGV do
  local holder = redis.call('HGET', key('locks'), ARGV[index])
  if holder and holder ~= ID then return refused('locked', state, holder) end
  if not holder then is_new = true end
end
if not is_new then return unchanged(state) end
for index = 3, #ARGV do
  if redis.call('HSETNX', key('locks'), ARGV[index], ID) == 1 then held = held .. ' ' .. ARGV[index] end
end
redis.call('HSET', JOB, 'locks', held)
return done(state)

-- KEYS lane, job; ARGV token, step, then the name of each. Returns a transition, or a refusal with the holder.
--
-- Atomic: checking that all are free, and taking all. If another job came between, two jobs would use up or revoke each
-- other's allowance; if only some were taken, two jobs could wait for each other.
if is_other then return refused('wrong_step', state) end
if FINAL[state] or state == 'NEEDS_OPERATOR' then return refused('wrong_state', state) end
local held = field('locks') or ''
local free = {}
for index = 3, #ARGV do
  local holder = redis.call('HGET', key('locks'), ARGV[index])
  if holder and holder ~= ID then return refused('locked', state, holder) end
  if not holder then free[#free + 1] = ARGV[index] end
end
if #free == 0 then return unchanged(state) end
for _, scope in ipairs(free) do
  later('HSET', key('locks'), scope, ID)
  held = held .. ' ' .. scope
end
put('locks', held)
return done(state)

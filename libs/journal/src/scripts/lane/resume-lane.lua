-- KEYS lane; ARGV code of the only pause to end, or '' for any. Returns {now, `done` | `unchanged`} or a refusal.
--
-- Atomic: checking that the lane exists and why it is paused, and ending the pause. If an operator paused it in
-- between, that pause would end.
if redis.call('HEXISTS', LANE, 'nextNonce') == 0 then return refused('not_adopted') end
local paused = redis.call('HGET', LANE, 'paused')
if not paused or (ARGV[1] ~= '' and cjson.decode(paused).code ~= ARGV[1]) then return {text(now), 'unchanged'} end
redis.call('HDEL', LANE, 'paused')
return {text(now), 'done'}

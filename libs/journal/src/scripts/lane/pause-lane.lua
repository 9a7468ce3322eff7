-- KEYS lane; ARGV reason. Returns {now, `done` | `unchanged`} or a refusal. Any other reason replaces that of an empty
-- wallet, which ends by itself; otherwise the first reason stays.
--
-- Atomic: checking that the lane exists and why it is paused, and marking it. If it was deleted in between, half a lane
-- would be left; if it was paused for another reason, that would be lost.
if redis.call('HEXISTS', LANE, 'nextNonce') == 0 then return refused('not_adopted') end
local function is_empty(reason) return cjson.decode(reason).code == 'INSUFFICIENT_FUNDS' end
local before = redis.call('HGET', LANE, 'paused')
if before and (is_empty(ARGV[1]) or not is_empty(before)) then return {text(now), 'unchanged'} end
redis.call('HSET', LANE, 'paused', ARGV[1])
return {text(now), 'done'}

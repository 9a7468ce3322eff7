-- KEYS lane; ARGV reason. Returns {now, `done` | `unchanged`} or a refusal. The first reason stays.
--
-- Atomic: checking that the lane exists and marking it. If it was deleted in between, half a lane would be left.
if redis.call('HEXISTS', LANE, 'nextNonce') == 0 then return refused('not_adopted') end
return {text(now), redis.call('HSETNX', LANE, 'paused', ARGV[1]) == 1 and 'done' or 'unchanged'}

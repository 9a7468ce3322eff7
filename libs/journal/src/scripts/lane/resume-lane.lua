-- KEYS lane. Returns {now, `done` | `unchanged`} or a refusal.
--
-- Atomic: as for pausing.
if redis.call('HEXISTS', LANE, 'nextNonce') == 0 then return refused('not_adopted') end
return {text(now), redis.call('HDEL', LANE, 'paused') == 1 and 'done' or 'unchanged'}

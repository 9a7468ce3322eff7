-- On Redis's clock alone. KEYS[1] the subject. Returns the milliseconds until another target is due, or -1, and the
-- targets for which something is due, the longest first.
local now = redis.call('TIME')
local nowMs = now[1] * 1000 + math.floor(now[2] / 1000)
local due = redis.call('ZRANGEBYSCORE', KEYS[1] .. ':due', '-inf', nowMs)
local later = redis.call('ZRANGEBYSCORE', KEYS[1] .. ':due', '(' .. nowMs, '+inf', 'WITHSCORES', 'LIMIT', 0, 1)
return { later[2] and later[2] - nowMs or -1, due }

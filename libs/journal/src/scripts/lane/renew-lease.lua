-- KEYS lane; ARGV owner, token, lease ms. Returns {now, `done`, token, until}, {now, `taken`} or {now, `discontinued`}.
--
-- Atomic: checking that the lease is still this holder's, and extending it. If another worker took it in between, that
-- worker would lose it again.
local lease = redis.call('HMGET', LANE, 'leaseOwner', 'leaseToken')
if lease[1] ~= ARGV[1] or lease[2] ~= ARGV[2] then return {text(now), 'taken'} end
local until_ms = text(now + tonumber(ARGV[3]))
redis.call('HSET', LANE, 'leaseUntil', until_ms, 'leaseLasts', ARGV[3])
return {text(now), 'done', ARGV[2], until_ms}

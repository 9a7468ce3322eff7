-- KEYS lane; ARGV owner, token. Returns {now, `done` | `taken`}. The token stays: the next holder's is higher.
--
-- Atomic: checking that the lease is still this holder's, and ending it. If another worker took it in between, that
-- worker's lease would end.
local lease = redis.call('HMGET', LANE, 'leaseOwner', 'leaseToken')
if lease[1] ~= ARGV[1] or lease[2] ~= ARGV[2] then return {text(now), 'taken'} end
redis.call('HDEL', LANE, 'leaseOwner', 'leaseUntil', 'leaseLasts')
return {text(now), 'done'}

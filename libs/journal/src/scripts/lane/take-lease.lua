-- KEYS lane; ARGV owner, lease ms, whether the owner reports to the book: `on`, `off` or '' if it does not say. Returns
-- {now, `done`, token, until}, {now, `taken`} or {now, `discontinued`}.
--
-- Atomic: checking that the lease is free or expired, and taking it under a higher token. If another worker came
-- between, both would have the same token, and the journal could not tell the late one from the current one.
local lease = redis.call('HMGET', LANE, 'leaseOwner', 'leaseToken')
local is_live = is_held()
if is_live and lease[1] ~= ARGV[1] then return {text(now), 'taken'} end
local token = is_live and lease[2] or text(tonumber(lease[2] or '0') + 1)
local until_ms = text(now + tonumber(ARGV[2]))
redis.call('HSET', LANE, 'leaseOwner', ARGV[1], 'leaseToken', token, 'leaseUntil', until_ms,
  'leaseLasts', ARGV[2])
-- Jobs are taken only of processes that do the same.
if ARGV[3] ~= '' then redis.call('HSET', LANE, 'book', ARGV[3]) else redis.call('HDEL', LANE, 'book') end
return {text(now), 'done', token, until_ms}

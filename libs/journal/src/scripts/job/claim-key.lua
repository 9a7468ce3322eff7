-- KEYS the key of the idempotency key; ARGV job id, fingerprint, lifetime ms. Returns {now, job id, fingerprint,
-- claimed at} of the first claim.
--
-- Atomic: checking that the key is new and claiming it. If another request came between, one key would create a job in
-- each of two wallets.
local time = redis.call('TIME')
local now = string.format('%.0f', time[1] * 1000 + math.floor(time[2] / 1000))
local known = redis.call('SET', KEYS[1], ARGV[1] .. ' ' .. ARGV[2] .. ' ' .. now, 'NX', 'GET', 'PX', ARGV[3])
if not known then return {now, ARGV[1], ARGV[2], now} end
local id, fingerprint, at = string.match(known, '^(%S+) (%S+) (%d+)$')
return {now, id, fingerprint, at}

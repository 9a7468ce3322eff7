-- KEYS birth, entry; ARGV slot, generation, owner, base units. Returns {now, `fixed` | `stale` | `discontinued`, base
-- units}.
--
-- Atomic: checking that the lease is still this holder's, and fixing the amount unless one is fixed. Otherwise, after a
-- take-over, two holders could each have another amount moved. The generation that fixed it is stored beside it: see
-- `release`.
local slot = ARGV[1]
local now = now_ms()
local birth = redis.call('HMGET', KEYS[1], 'run', 'epoch')
if birth[1] ~= server_run() then return {text(now), 'discontinued'} end
local r = read_record(redis.call('HGET', KEYS[2], slot))
local holds = r and r.state == 'L' and r.generation == tonumber(ARGV[2]) and r.owner == ARGV[3]
if not holds or r.epoch ~= tonumber(birth[2]) then return {text(now), 'stale'} end
if redis.call('HSETNX', KEYS[2], slot .. ':amount', ARGV[4]) == 1 then
  redis.call('HSET', KEYS[2], slot .. ':fixer', ARGV[2])
end
return {text(now), 'fixed', redis.call('HGET', KEYS[2], slot .. ':amount')}

-- KEYS seen, stream; ARGV payment and failure as one name, how many to keep, then fields and values of the entry.
-- Returns {now, `recorded` | `known`}.
--
-- Atomic: checking that this refusal is new and appending it. Otherwise one payment could be listed twice and refunded
-- twice.
local now, keep = now_ms(), tonumber(ARGV[2])
if redis.call('ZADD', KEYS[1], 'NX', text(now), ARGV[1]) == 0 then return {text(now), 'known'} end
redis.call('ZREMRANGEBYRANK', KEYS[1], 0, -(keep + 1))
redis.call('XADD', KEYS[2], 'MAXLEN', '=', text(keep), '*', unpack(ARGV, 3))
return {text(now), 'recorded'}

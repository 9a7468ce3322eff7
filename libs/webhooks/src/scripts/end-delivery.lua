-- Atomic: a delivery waits, is a dead letter, or is gone; and one that was dropped or whose target was removed meanwhile
-- does not come back. What another process has claimed since is left to it, unless it is over. KEYS[1] the subject; ARGV
-- target, event, then nothing where it is over; 'retry', end of the lease, content and delay in milliseconds; or 'dead',
-- end of the lease, content, how long dead letters are kept, and how many of a target. Returns 1 when it was changed.
local now = redis.call('TIME')
local nowMs = now[1] * 1000 + math.floor(now[2] / 1000)
local key = function(part) return KEYS[1] .. ':' .. part .. ':' .. ARGV[1] end
local score = redis.call('ZSCORE', key('waiting'), ARGV[2])
if not score or (ARGV[3] and tonumber(score) ~= tonumber(ARGV[4])) then return 0 end
-- Redis takes this when it is full, and then the rest of the script.
redis.call('HDEL', key('events'), ARGV[2])
if ARGV[3] == 'retry' then
  redis.call('ZADD', key('waiting'), nowMs + ARGV[6], ARGV[2])
  redis.call('HSET', key('events'), ARGV[2], ARGV[5])
  redis.call('ZADD', KEYS[1] .. ':due', 'LT', nowMs + ARGV[6], ARGV[1])
  return 1
end
redis.call('ZREM', key('waiting'), ARGV[2])
redis.call('ZREM', key('order'), ARGV[2])
if ARGV[3] ~= 'dead' then return 1 end
redis.call('ZADD', key('dead'), nowMs, ARGV[2])
redis.call('HSET', key('letters'), ARGV[2], ARGV[5])
for _, event in ipairs(redis.call('ZRANGEBYSCORE', key('dead'), '-inf', nowMs - ARGV[6])) do
  redis.call('ZREM', key('dead'), event)
  redis.call('HDEL', key('letters'), event)
end
for _ = 1, redis.call('ZCARD', key('dead')) - ARGV[7] do
  redis.call('HDEL', key('letters'), redis.call('ZPOPMIN', key('dead'))[1])
end
for _, part in ipairs({ 'dead', 'letters' }) do redis.call('PEXPIRE', key(part), ARGV[6]) end
return 1

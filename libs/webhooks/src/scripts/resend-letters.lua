-- Atomic: two callers must not send one dead letter again, and it does not come back once its target is removed. KEYS[1]
-- the subject; ARGV target, then event and content of each, or '' where a copy has lost it. Returns how many wait again, as
-- the newest of their target: by the position of their source, where it has one.
local now = redis.call('TIME')
local nowMs = now[1] * 1000 + math.floor(now[2] / 1000)
local key = function(part) return KEYS[1] .. ':' .. part .. ':' .. ARGV[1] end
local newest = redis.call('GET', KEYS[1] .. ':position') or nowMs
local resent = 0
for index = 2, #ARGV, 2 do
  local event = ARGV[index]
  if redis.call('ZREM', key('dead'), event) == 1 and ARGV[index + 1] ~= '' then
    redis.call('HDEL', key('letters'), event)
    -- One that was added again may be claimed.
    redis.call('ZADD', key('waiting'), 'NX', nowMs, event)
    redis.call('ZADD', key('order'), newest, event)
    redis.call('HSET', key('events'), event, ARGV[index + 1])
    resent = resent + 1
  end
end
if resent > 0 then redis.call('ZADD', KEYS[1] .. ':due', 'LT', nowMs, ARGV[1]) end
return resent

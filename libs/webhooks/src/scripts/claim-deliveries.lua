-- Atomic: two processes must not take one delivery. It stays in the list and is due again after the lease, so that the
-- delivery of a process that was killed is repeated. The target goes behind all that are due by now, so that one with
-- much that is due does not keep the others waiting. KEYS[1] the subject; ARGV target, most, lease in milliseconds.
-- Returns content and end of the lease, in turn.
local now = redis.call('TIME')
local nowMs = now[1] * 1000 + math.floor(now[2] / 1000)
-- Redis takes this when it is full, and then the rest of the script: what is delivered makes room.
redis.call('ZREM', KEYS[1] .. ':due', ARGV[1])
local waiting = KEYS[1] .. ':waiting:' .. ARGV[1]
local claimed = {}
for _, event in ipairs(redis.call('ZRANGEBYSCORE', waiting, '-inf', nowMs, 'LIMIT', 0, ARGV[2])) do
  local content = redis.call('HGET', KEYS[1] .. ':events:' .. ARGV[1], event)
  if content then
    redis.call('ZADD', waiting, nowMs + ARGV[3], event)
    table.insert(claimed, content)
    table.insert(claimed, nowMs + ARGV[3])
  else
    -- A copy may have one without the other.
    redis.call('ZREM', waiting, event)
    redis.call('ZREM', KEYS[1] .. ':order:' .. ARGV[1], event)
  end
end
local first = redis.call('ZRANGE', waiting, 0, 0, 'WITHSCORES')
if first[2] then redis.call('ZADD', KEYS[1] .. ':due', math.max(first[2], nowMs), ARGV[1]) end
return claimed

-- Atomic: removing a target with everything that is kept for it, and a key's last target with the key's place in the
-- sets, to which another registration may be adding it. KEYS[1] the subject; ARGV key, id. Returns 1 when it existed.
local of = KEYS[1] .. ':of:' .. ARGV[1]
local name = ARGV[1] .. '/' .. ARGV[2]
local removed = redis.call('HDEL', of, ARGV[2])
if redis.call('HLEN', of) == 0 then
  redis.call('SREM', KEYS[1] .. ':keys', ARGV[1])
  redis.call('SREM', KEYS[1] .. ':hear-all', ARGV[1])
end
for _, part in ipairs({ 'waiting', 'order', 'events', 'dead', 'letters' }) do
  redis.call('UNLINK', KEYS[1] .. ':' .. part .. ':' .. name)
end
redis.call('ZREM', KEYS[1] .. ':due', name)
redis.call('ZREM', KEYS[1] .. ':kept', name)
redis.call('HDEL', KEYS[1] .. ':crowded-out', name)
return removed

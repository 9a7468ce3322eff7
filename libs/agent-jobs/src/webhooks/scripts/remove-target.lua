-- Atomic: removing a key's last target and the key itself from the sets, to which another registration may be adding
-- it. KEYS[1] the key's targets; ARGV id, key. Returns 1 when the target existed.
local removed = redis.call('HDEL', KEYS[1], ARGV[1])
if redis.call('HLEN', KEYS[1]) == 0 then
  redis.call('SREM', 'tollgate:{webhooks}:keys', ARGV[2])
  redis.call('SREM', 'tollgate:{webhooks}:operators', ARGV[2])
end
return removed

-- Atomic: counting the key's targets and adding one, so that the limit holds; and adding the key to the sets that list
-- the targets. KEYS[1] the key's targets; ARGV id, target, most targets, key, '1' for all jobs. Returns 1 when added.
if redis.call('HLEN', KEYS[1]) >= tonumber(ARGV[3]) then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
redis.call('SADD', 'tollgate:{webhooks}:keys', ARGV[4])
if ARGV[5] == '1' then redis.call('SADD', 'tollgate:{webhooks}:operators', ARGV[4]) end
return 1

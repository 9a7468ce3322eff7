-- Atomic: counting the key's targets and adding one, so that the limit holds; and adding the key to the sets that list
-- the targets. KEYS[1] the subject; ARGV id, target, most targets, key, '1' where it hears all. Returns 1 when added.
local of = KEYS[1] .. ':of:' .. ARGV[4]
if redis.call('HLEN', of) >= tonumber(ARGV[3]) then return 0 end
redis.call('HSET', of, ARGV[1], ARGV[2])
redis.call('SADD', KEYS[1] .. ':keys', ARGV[4])
if ARGV[5] == '1' then redis.call('SADD', KEYS[1] .. ':hear-all', ARGV[4]) end
return 1

-- Atomic: enabling or disabling must not restore a target that is removed meanwhile. KEYS[1] the key's targets; ARGV
-- id, target. Returns 1 when it still exists.
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
return 1

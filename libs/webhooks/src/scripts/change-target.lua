-- Atomic: enabling or disabling must not restore a target that is removed meanwhile, and nothing waits for a disabled
-- one. KEYS[1] the subject; ARGV key, id, target, '1' to drop what waits. Returns how many were dropped; -1 where it
-- does not exist.
local of = KEYS[1] .. ':of:' .. ARGV[1]
if redis.call('HEXISTS', of, ARGV[2]) == 0 then return -1 end
redis.call('HSET', of, ARGV[2], ARGV[3])
if ARGV[4] ~= '1' then return 0 end
local name = ARGV[1] .. '/' .. ARGV[2]
local waiting = redis.call('ZCARD', KEYS[1] .. ':waiting:' .. name)
for _, part in ipairs({ 'waiting', 'order', 'events' }) do redis.call('UNLINK', KEYS[1] .. ':' .. part .. ':' .. name) end
redis.call('ZREM', KEYS[1] .. ':due', name)
return waiting

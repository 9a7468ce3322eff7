-- Atomic: enabling or disabling must not restore a target that is removed meanwhile, disabling must not undo what its
-- owner does meanwhile, and nothing waits for a disabled one. KEYS[1] the subject; ARGV key, id, target, then nothing to
-- enable it; to disable it, the target as it was read, and an event that must wait for it, or ''. Returns how many were
-- dropped; -1 where it does not exist, or is another by now.
local of = KEYS[1] .. ':of:' .. ARGV[1]
local name = ARGV[1] .. '/' .. ARGV[2]
local stored = redis.call('HGET', of, ARGV[2])
if not stored or (ARGV[4] and stored ~= ARGV[4]) then return -1 end
if (ARGV[5] or '') ~= '' and not redis.call('ZSCORE', KEYS[1] .. ':waiting:' .. name, ARGV[5]) then return -1 end
local dropped = 0
if ARGV[4] then
  dropped = redis.call('ZCARD', KEYS[1] .. ':waiting:' .. name)
  for _, part in ipairs({ 'waiting', 'order', 'events' }) do redis.call('UNLINK', KEYS[1] .. ':' .. part .. ':' .. name) end
  redis.call('ZREM', KEYS[1] .. ':due', name)
end
redis.call('HSET', of, ARGV[2], ARGV[3])
return dropped

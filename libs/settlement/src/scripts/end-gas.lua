-- KEYS the budget; ARGV job, gas burnt, ms. Returns what the job held, which is thus counted only once.
local held = redis.call('HGET', KEYS[1], 'held:' .. ARGV[1])
if not held then return false end
redis.call('HDEL', KEYS[1], 'held:' .. ARGV[1])
if tonumber(ARGV[2]) > 0 then
  local minute = math.floor(redis.call('TIME')[1] / 60)
  redis.call('HINCRBY', KEYS[1], 'burnt:' .. minute, ARGV[2])
  redis.call('PEXPIRE', KEYS[1], ARGV[3])
end
return held

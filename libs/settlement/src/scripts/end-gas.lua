-- KEYS the budgets; ARGV job, gas it used up of the budget for calls, of that for deployments, ms. Returns what the job
-- held, which is thus counted only once.
local held = redis.call('HGET', KEYS[1], 'held:' .. ARGV[1])
if not held then return false end
redis.call('HDEL', KEYS[1], 'held:' .. ARGV[1])
local budget = held:match('^%d+ %d+ (%l+)')
local used = budget == 'deployments' and ARGV[3] or ARGV[2]
if tonumber(used) > 0 then
  local minute = math.floor(redis.call('TIME')[1] / 60)
  redis.call('HINCRBY', KEYS[1], budget .. ':' .. minute, used)
  redis.call('PEXPIRE', KEYS[1], ARGV[4])
end
return held

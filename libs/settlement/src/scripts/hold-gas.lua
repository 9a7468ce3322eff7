-- KEYS the budgets; ARGV job, gas, budget, code, the most that may be used up and held, ms. Check and hold are one step:
-- otherwise other verifiers could take the same room in between. A hold left from an earlier plan of the job is dropped.
local name = 'held:' .. ARGV[1]
redis.call('HDEL', KEYS[1], name)
local used, held = count_gas(ARGV[3])
if used + held + tonumber(ARGV[2]) > tonumber(ARGV[5]) then return {used, held, 0} end
redis.call('HSET', KEYS[1], name, ARGV[2] .. ' ' .. minute .. ' ' .. ARGV[3] .. ' ' .. ARGV[4])
redis.call('PEXPIRE', KEYS[1], ARGV[6])
return {used, held, 1}

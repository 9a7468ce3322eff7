-- KEYS the budget; ARGV job, gas, code, the most that may be burnt and held, ms. Check and hold are one step: otherwise
-- other verifiers could take the same room in between. A hold left from an earlier plan of the job is dropped.
local name = 'held:' .. ARGV[1]
redis.call('HDEL', KEYS[1], name)
local burnt, held = count_gas()
if burnt + held + tonumber(ARGV[2]) > tonumber(ARGV[4]) then return {burnt, held, 0} end
redis.call('HSET', KEYS[1], name, ARGV[2] .. ' ' .. minute .. ' ' .. ARGV[3])
redis.call('PEXPIRE', KEYS[1], ARGV[5])
return {burnt, held, 1}

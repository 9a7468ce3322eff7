-- KEYS[1] the list, ARGV[1] its limit, ARGV[2..] requests. Pushes as many as there is room for, in order, and returns
-- how many. Checking the length and pushing are one step: many gateways push at once, and the limit bounds memory.
local room = tonumber(ARGV[1]) - redis.call('LLEN', KEYS[1])
local count = math.min(room, #ARGV - 1)
if count <= 0 then return 0 end
redis.call('RPUSH', KEYS[1], unpack(ARGV, 2, count + 1))
return count

-- KEYS: the reports of a quarter of an hour. ARGV: lock, transaction hash, most in all, most for one lock, ms to keep
-- them. Counting and adding are atomic: otherwise many reports at once could exceed the bounds.
local reports, lock = KEYS[1], ARGV[1]
if redis.call('ZCARD', reports) >= tonumber(ARGV[3]) then return 0 end
if redis.call('ZLEXCOUNT', reports, '[' .. lock, '(' .. lock .. 'g') >= tonumber(ARGV[4]) then return 0 end
redis.call('ZADD', reports, 0, lock .. ARGV[2])
redis.call('PEXPIRE', reports, ARGV[5])
return 1

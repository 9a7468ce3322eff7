-- KEYS: the reports of a quarter of an hour by lock, and by network and age. ARGV: lock, transaction hash, network, most
-- in all, most for one lock, most of one network, ms to keep them. Counting, dropping and adding are atomic: otherwise
-- many reports at once could exceed the bounds. Returns 1, or 0 for a report that is not taken.
local locks, networks = KEYS[1], KEYS[2]
local lock, network = ARGV[1], ARGV[3]
local report = lock .. ARGV[2]
if redis.call('ZSCORE', locks, report) then return 1 end

-- No address has a bar, and all its members lie between a bar and a brace.
local first, last = '[' .. network .. '|', '(' .. network .. '}'
-- A member ends with its report: lock and hash, of 64 digits each.
local function drop_oldest(of_lock)
  for _, member in ipairs(redis.call('ZRANGEBYLEX', networks, first, last)) do
    local old = string.sub(member, -128)
    if not of_lock or string.sub(old, 1, 64) == of_lock then
      redis.call('ZREM', networks, member)
      redis.call('ZREM', locks, old)
      return true
    end
  end
  return false
end

if redis.call('ZLEXCOUNT', locks, '[' .. lock, '(' .. lock .. 'g') >= tonumber(ARGV[5]) and not drop_oldest(lock) then
  return 0
end
local is_full = redis.call('ZCARD', locks) >= tonumber(ARGV[4])
if (is_full or redis.call('ZLEXCOUNT', networks, first, last) >= tonumber(ARGV[6])) and not drop_oldest() then
  return 0
end
local time = redis.call('TIME')
redis.call('ZADD', locks, 0, report)
redis.call('ZADD', networks, 0, network .. '|' .. string.format('%010d%06d', time[1], time[2]) .. report)
redis.call('PEXPIRE', locks, ARGV[7])
redis.call('PEXPIRE', networks, ARGV[7])
return 1

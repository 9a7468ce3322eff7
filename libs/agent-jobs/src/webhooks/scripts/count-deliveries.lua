-- Atomic: counting the deliveries that wait for a target and removing the oldest above the limit, so that deliveries
-- added by several processes at once are counted once. KEYS[1] the waiting deliveries; ARGV the limit, the prefix of
-- the queue's jobs, how many seconds all of this is kept, then time and id of each new delivery. Returns the ids above
-- the limit, new ones included.
local function is_open(id)
  local job = ARGV[2] .. id
  return redis.call('EXISTS', job) == 1 and redis.call('HEXISTS', job, 'finishedOn') == 0
end
for index = 4, #ARGV, 2 do
  -- A delivery that is added again after a crash may be finished by now: then it does not wait.
  if is_open(ARGV[index + 1]) then redis.call('ZADD', KEYS[1], 'NX', ARGV[index], ARGV[index + 1]) end
end
local crowded_out = {}
for _ = 1, redis.call('ZCARD', KEYS[1]) - tonumber(ARGV[1]) do
  local id = redis.call('ZPOPMIN', KEYS[1])[1]
  if is_open(id) then table.insert(crowded_out, id) end
end
redis.call('EXPIRE', KEYS[1], ARGV[3])
return crowded_out

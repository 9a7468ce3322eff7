import { LuaScript } from '@tollgate/common';

/**
 * Atomic: counting what waits for a target and taking out the oldest above the limit, so that what several processes hand
 * on at once is counted once. KEYS[1] what waits; ARGV most that may, where the queue keeps its jobs, seconds that all of
 * this is kept, then time and id of each new delivery. Answers the ids that have no room, new ones among them.
 */
export const COUNT_DELIVERIES = new LuaScript(/* lua */ `
local function is_open(id)
  local job = ARGV[2] .. id
  return redis.call('EXISTS', job) == 1 and redis.call('HEXISTS', job, 'finishedOn') == 0
end
for index = 4, #ARGV, 2 do
  -- What is handed on again after a crash may be done by now: then it does not wait.
  if is_open(ARGV[index + 1]) then redis.call('ZADD', KEYS[1], 'NX', ARGV[index], ARGV[index + 1]) end
end
local crowded_out = {}
for _ = 1, redis.call('ZCARD', KEYS[1]) - tonumber(ARGV[1]) do
  local id = redis.call('ZPOPMIN', KEYS[1])[1]
  if is_open(id) then table.insert(crowded_out, id) end
end
redis.call('EXPIRE', KEYS[1], ARGV[3])
return crowded_out
`);

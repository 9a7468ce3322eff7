-- Atomic: adding deliveries, dropping the oldest above the limits, and moving the position of the source whose events they
-- are: a crash, or a copy, has all of it or nothing. Above the limit in all, the target for which most is kept loses its
-- oldest, dead letters first. KEYS[1] the subject; ARGV most that wait for a target, most that is kept in all, the position
-- before and behind or '', then for each delivery: key, target, event, order, content. Returns target and number dropped,
-- in turn; nil where the position is another. Nothing is added for a target that is removed meanwhile.
if ARGV[3] ~= '' and (redis.call('GET', KEYS[1] .. ':position') or '0') ~= ARGV[3] then return nil end
local now = redis.call('TIME')
local nowMs = now[1] * 1000 + math.floor(now[2] / 1000)
local names, known = {}, {}
for index = 5, #ARGV, 5 do
  local key, target, event = ARGV[index], ARGV[index + 1], ARGV[index + 2]
  if redis.call('HEXISTS', KEYS[1] .. ':of:' .. key, target) == 1 then
    local name = key .. '/' .. target
    redis.call('ZADD', KEYS[1] .. ':waiting:' .. name, 'NX', nowMs, event)
    redis.call('ZADD', KEYS[1] .. ':order:' .. name, 'NX', ARGV[index + 3], event)
    redis.call('HSETNX', KEYS[1] .. ':events:' .. name, event, ARGV[index + 4])
    if not known[name] then table.insert(names, name) end
    known[name] = true
  end
end
local size = function(part, name) return redis.call('ZCARD', KEYS[1] .. ':' .. part .. ':' .. name) end
local dropped = {}
local drop = function(from, contents, name)
  local oldest = redis.call('ZPOPMIN', KEYS[1] .. ':' .. from .. ':' .. name)[1]
  redis.call('HDEL', KEYS[1] .. ':' .. contents .. ':' .. name, oldest)
  if from == 'order' then redis.call('ZREM', KEYS[1] .. ':waiting:' .. name, oldest) end
  dropped[name] = (dropped[name] or 0) + 1
end
local kept = KEYS[1] .. ':kept'
local note = function(name) redis.call('ZADD', kept, size('order', name) + size('dead', name), name) end
for _, name in ipairs(names) do
  redis.call('ZADD', KEYS[1] .. ':due', 'LT', nowMs, name)
  for _ = 1, size('order', name) - ARGV[1] do drop('order', 'events', name) end
  note(name)
end
local countOver = function()
  local over = -ARGV[2]
  for index, value in ipairs(redis.call('ZRANGE', kept, 0, -1, 'WITHSCORES')) do
    if index % 2 == 0 then over = over + value end
  end
  return over
end
if countOver() > 0 then
  -- Only what is added is noted at once.
  for _, name in ipairs(redis.call('ZRANGE', kept, 0, -1)) do note(name) end
  for _ = 1, countOver() do
    local most = redis.call('ZREVRANGE', kept, 0, 0, 'WITHSCORES')
    if size('dead', most[1]) > 0 then drop('dead', 'letters', most[1]) else drop('order', 'events', most[1]) end
    redis.call('ZADD', kept, most[2] - 1, most[1])
  end
end
local reply = {}
for name, number in pairs(dropped) do
  redis.call('HINCRBY', KEYS[1] .. ':crowded-out', name, number)
  table.insert(reply, name)
  table.insert(reply, number)
end
if ARGV[3] ~= '' then redis.call('SET', KEYS[1] .. ':position', ARGV[4]) end
return reply

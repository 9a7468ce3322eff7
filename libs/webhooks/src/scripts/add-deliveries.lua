-- Atomic: adding deliveries, dropping the oldest above a target's limit, and moving the position of the source whose
-- events they are: a crash, or a copy, has all of it or nothing. KEYS[1] the subject; ARGV most that wait for a target,
-- the position before and behind or '', then for each delivery: key, target, event, order, content. Returns target and
-- number dropped, in turn; nil where the position is another. Nothing is added for a target that is removed meanwhile.
if ARGV[2] ~= '' and (redis.call('GET', KEYS[1] .. ':position') or '0') ~= ARGV[2] then return nil end
local now = redis.call('TIME')
local nowMs = now[1] * 1000 + math.floor(now[2] / 1000)
local names, known = {}, {}
for index = 4, #ARGV, 5 do
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
local dropped = {}
for _, name in ipairs(names) do
  redis.call('ZADD', KEYS[1] .. ':due', 'LT', nowMs, name)
  local over = redis.call('ZCARD', KEYS[1] .. ':order:' .. name) - tonumber(ARGV[1])
  for _ = 1, over do
    local oldest = redis.call('ZPOPMIN', KEYS[1] .. ':order:' .. name)[1]
    redis.call('ZREM', KEYS[1] .. ':waiting:' .. name, oldest)
    redis.call('HDEL', KEYS[1] .. ':events:' .. name, oldest)
  end
  if over > 0 then
    redis.call('HINCRBY', KEYS[1] .. ':crowded-out', name, over)
    table.insert(dropped, name)
    table.insert(dropped, over)
  end
end
if ARGV[2] ~= '' then redis.call('SET', KEYS[1] .. ':position', ARGV[3]) end
return dropped

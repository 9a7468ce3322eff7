-- KEYS lane. Returns {ids of the ended jobs, copies}; a copy is {key, expires at ms or -1, serialized value}. Reads only.
--
-- Atomic: copying the nonce counter with every job that has not ended, the open set and the events. If a reservation
-- came between, the copy could hold a step whose nonce its counter gives out again.
local ROOT = string.sub(KEYS[1], 1, -5)
local time = redis.call('TIME')
local copies, is_ended = {}, {}
local function copy(name)
  local value = redis.call('DUMP', ROOT .. name)
  if value then copies[#copies + 1] = {ROOT .. name, redis.call('PEXPIRETIME', ROOT .. name), value} end
end

local ended = redis.call('ZRANGE', ROOT .. 'ended', 0, -1)
for _, id in ipairs(ended) do is_ended[id] = true end
for _, id in ipairs(redis.call('ZRANGE', ROOT .. 'jobs', 0, -1)) do
  if not is_ended[id] then copy('job:' .. id) end
end
for _, name in ipairs({'jobs', 'ended', 'open', 'flight', 'idempotency', 'events', 'book', 'consumers', 'locks'}) do
  copy(name)
end
-- The counters of a day's spending expire after three days.
local today = math.floor(time[1] / 86400)
for day = today - 3, today do copy('spent:' .. string.format('%.0f', day)) end
copy('lane')
return {ended, copies}

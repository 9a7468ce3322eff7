-- KEYS the budget. Its hash fields: `burnt:<minute>` holds gas, `held:<job>` holds gas, minute and code. Entries older than
-- an hour no longer count. A hold whose end was never seen, because a process died, counts as burnt until then.
local minute = math.floor(redis.call('TIME')[1] / 60)

local function count_gas()
  local burnt, held = 0, 0
  local fields = redis.call('HGETALL', KEYS[1])
  for at = 1, #fields, 2 do
    local since = fields[at]:match('^burnt:(%d+)$')
    local gas = fields[at + 1]
    if since == nil then gas, since = gas:match('^(%d+) (%d+)') end
    if tonumber(since) < minute - 60 then redis.call('HDEL', KEYS[1], fields[at])
    elseif fields[at]:sub(1, 5) == 'burnt' then burnt = burnt + gas
    else held = held + gas end
  end
  return burnt, held
end

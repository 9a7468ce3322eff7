-- KEYS the budgets. The hash's fields: `<budget>:<minute>` holds the gas used up, `held:<job>` holds gas, minute, budget and
-- name of the code. Entries older than an hour no longer count. A hold whose end was never seen, because a process died,
-- counts as used until then.
local minute = math.floor(redis.call('TIME')[1] / 60)

local function count_gas(budget)
  local used, held = 0, 0
  local fields = redis.call('HGETALL', KEYS[1])
  for at = 1, #fields, 2 do
    local is_held = fields[at]:sub(1, 5) == 'held:'
    local name, since = fields[at]:match('^(%l+):(%d+)$')
    local gas = fields[at + 1]
    if is_held then gas, since, name = gas:match('^(%d+) (%d+) (%l+)') end
    if tonumber(since) < minute - 60 then redis.call('HDEL', KEYS[1], fields[at])
    elseif name == budget and is_held then held = held + gas
    elseif name == budget then used = used + gas end
  end
  return used, held
end

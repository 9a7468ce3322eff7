-- Shared by all transitions. KEYS[1] is the lane's own hash. All other keys are derived from its name and have the same
-- hash tag, so one server of a cluster holds them all.
local LANE = KEYS[1]
local ROOT = string.sub(LANE, 1, -5)
local function key(name) return ROOT .. name end

local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

-- For whole numbers. Lua formats them faster as integers, of 64 bits: see checkServers.
local function text(number) return string.format('%d', number) end

-- The replication id changes with every start and every promotion, so it identifies this run of the server.
local run_of_server = nil
local function server_run()
  run_of_server = run_of_server or string.match(redis.call('INFO', 'replication'), 'master_replid:(%w+)')
  return run_of_server
end

local function refused(reason, state, ...) return {text(now), 'refused', reason, state or '', ...} end

-- A lease that has longer to go than it lasts is of a clock that was ahead, and over.
local function is_held()
  local held = redis.call('HMGET', LANE, 'leaseOwner', 'leaseUntil', 'leaseLasts')
  if not held[1] or tonumber(held[2]) <= now then return false end
  return held[2] - now <= tonumber(held[3])
end

-- Read once for consecutive job transitions.
local lease, events_kept, has_consumers = nil, nil, nil
local function forget_lane() lease, events_kept, has_consumers = nil, nil, nil end

local function is_stale(token)
  lease = lease or redis.call('HMGET', LANE, 'leaseOwner', 'leaseToken')
  return not lease[1] or lease[2] ~= token
end

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

local LANE_FIELDS = {
  'leaseOwner', 'leaseToken', 'run', 'frozen', 'paused', 'nextNonce', 'book', 'forgottenUntil', 'retentionMs', 'jobsKept', 'eventsKept'
}
-- Read once for consecutive transitions of jobs.
local known_of_lane, last_event, has_consumers = nil, nil, nil
local function forget_lane() known_of_lane, last_event, has_consumers = nil, nil, nil end

local function of_lane(name)
  if not known_of_lane then
    known_of_lane = {}
    for index, value in ipairs(redis.call('HMGET', LANE, unpack(LANE_FIELDS))) do known_of_lane[LANE_FIELDS[index]] = value end
  end
  return known_of_lane[name]
end

local function is_stale(token) return not of_lane('leaseOwner') or of_lane('leaseToken') ~= token end

-- An event's stream id is its sequence, so a reader can continue from an event's id. The last event is never trimmed.
local function last_sequence()
  if not last_event then
    local last = redis.call('XREVRANGE', key('events'), '+', '-', 'COUNT', 1)[1]
    last_event = last and tonumber(string.match(last[1], '^%d+')) or 0
  end
  return last_event
end

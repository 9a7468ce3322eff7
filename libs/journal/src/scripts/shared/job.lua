-- Shared by all transitions of a job. JOB is the job's hash. A transition of a lane that changes jobs opens and saves each.
local JOB, ID = nil, nil
local FINAL = {FINAL = true, REVERTED = true, CANCELLED = true, REJECTED = true, PLAN_FAILED = true}

local function done(state) return {text(now), 'done', state} end
local function unchanged(state) return {text(now), 'unchanged', state} end

-- The job's fields as they are by now, false where there is none, and the names of those to write; whether its steps are in
-- flight; its events; and other writes. All are written at the end of a chain: few commands, and little of Redis's log.
local known, changed, flights, events, writes = {}, {}, {}, {}, {}

local function open_job(job)
  JOB, ID = job, job and string.sub(job, #ROOT + 5)
  known, changed, flights, events, writes = {}, {}, {}, {}, {}
end

local function later(...) writes[#writes + 1] = {...} end

-- Reads the fields that are not known yet.
local function read(...)
  local missing = {}
  for _, name in ipairs({...}) do
    if known[name] == nil then missing[#missing + 1] = name end
  end
  if #missing == 0 then return end
  for index, value in ipairs(redis.call('HMGET', JOB, unpack(missing))) do known[missing[index]] = value end
end

local function field(name)
  if known[name] == nil then read(name) end
  return known[name]
end

-- Names and values.
local function put(...)
  local pairs_of = {...}
  for index = 1, #pairs_of, 2 do
    local name, value = pairs_of[index], pairs_of[index + 1]
    if known[name] ~= value then known[name], changed[name] = value, true end
  end
end

local function drop(...)
  read(...)
  for _, name in ipairs({...}) do put(name, false) end
end

-- Mined steps have negative scores, so that the others can be counted. `nonce` false: it is not in flight any more.
local function set_flight(step, nonce, is_mined) flights[ID .. '/' .. step] = nonce and text(is_mined and -1 - nonce or nonce) end

-- The step in flight with this nonce, mined or not; nil: there is none.
local function flying_with(nonce)
  local function at(score) return redis.call('ZRANGE', key('flight'), score, score, 'BYSCORE')[1] end
  return at(nonce) or at(text(-1 - nonce))
end

local function emit(event, state, hash, failure)
  local line = table.concat({event, ID, state, field('operation'), field('keyId'), text(now), hash or '-'}, ' ')
  events[#events + 1] = failure and {'event', line, 'error', failure} or {'event', line}
end

local function save_events()
  if has_consumers == nil then has_consumers = redis.call('EXISTS', key('consumers')) == 1 end
  for _, entry in ipairs(events) do
    local id = text(last_sequence() + 1) .. '-0'
    if has_consumers then
      redis.call('XADD', key('events'), id, unpack(entry))
    else
      redis.call('XADD', key('events'), 'MAXLEN', '=', of_lane('eventsKept') or '10000', id, unpack(entry))
    end
    last_event = last_event + 1
  end
end

-- The events first: Redis keeps what a script wrote before it failed, as on a stream that takes no entry.
local function save_job()
  if #events > 0 then save_events() end
  for _, write in ipairs(writes) do redis.call(unpack(write)) end
  for name, score in pairs(flights) do
    if score then redis.call('ZADD', key('flight'), score, name) else redis.call('ZREM', key('flight'), name) end
  end
  local values, gone = {}, {}
  for name in pairs(changed) do
    if known[name] then
      values[#values + 1] = name
      values[#values + 1] = known[name]
    else
      gone[#gone + 1] = name
    end
  end
  if #values > 0 then redis.call('HSET', JOB, unpack(values)) end
  if #gone > 0 then redis.call('HDEL', JOB, unpack(gone)) end
  open_job(nil)
end

local function set_state(state) put('state', state, 'at', text(now)) end

local function give_back()
  local counted = field('spending')
  if not counted then return end
  local day = string.match(counted, '^(%d+)')
  for asset, amount in string.gmatch(counted, '([^ =]+)=(%d+)') do
    local total = redis.call('HGET', key('spent:' .. day), asset)
    -- An expired counter needs no correction.
    if total then later('HSET', key('spent:' .. day), asset, subtract(total, amount)) end
  end
  drop('spending')
end

local function forget(id)
  local job = key('job:' .. id)
  local submitted = redis.call('HMGET', job, 'idempotency', 'claimedAt')
  redis.call('HDEL', key('idempotency'), submitted[1] or '')
  redis.call('DEL', job)
  redis.call('ZREM', key('ended'), id)
  redis.call('ZREM', key('jobs'), id)
  local until_ms = math.max(tonumber(of_lane('forgottenUntil') or '0'), tonumber(submitted[2] or '0'))
  known_of_lane.forgottenUntil = text(until_ms)
  redis.call('HSET', LANE, 'forgottenUntil', text(until_ms))
end

local just_ended = 0

-- A few per ended job, so that no call takes long and the number of ended jobs stays bounded.
local function forget_ended()
  local retention = of_lane('retentionMs')
  if just_ended == 0 or not retention then return end
  local excess = redis.call('ZCARD', key('ended')) - tonumber(of_lane('jobsKept'))
  local oldest = redis.call('ZRANGE', key('ended'), 0, 10 * just_ended - 1, 'WITHSCORES')
  for index = 1, #oldest, 2 do
    if (index + 1) / 2 <= excess or tonumber(oldest[index + 1]) < now - tonumber(retention) then forget(oldest[index]) end
  end
end

local function attempt_at(step, index)
  local kind, hash = string.match(field('attempt:' .. step .. ':' .. index) or '', '^(%a+) (%w+) ')
  return kind and {kind = kind, hash = hash, index = index}
end

local function attempt_count(step) return tonumber(field('attempts:' .. step) or '0') end

local function find_attempt(step, hash)
  for index = 0, attempt_count(step) - 1 do
    local attempt = attempt_at(step, index)
    if attempt.hash == hash then return attempt end
  end
end

local function mined_at(step)
  local index, block = string.match(field('mined:' .. step) or '', '^(%d+) %d+ (%w+)$')
  return index and {attempt = attempt_at(step, index), block = block}
end

-- The number of the step's signature and its bytes, `-` without any; 0 where nothing was signed.
local function signature_at(step)
  local number, bytes = string.match(field('signature:' .. step) or '0 0 -', '^(%d+) %d+ (%S+)$')
  return tonumber(number), bytes
end

local function drop_signature(step)
  local line = field('signature:' .. step)
  if line then put('signature:' .. step, (string.gsub(line, '%S+$', '-'))) end
end

-- Signed bytes are of no use once the job has ended, and they are most of its size.
local function drop_signed_bytes()
  for step = 0, tonumber(field('step')) do
    drop_signature(step)
    for index = 0, attempt_count(step) - 1 do drop('raw:' .. step .. ':' .. index) end
  end
end

local function end_job(state, failure, gives_back)
  local step = field('step')
  read('locks', 'doneStep', 'spending', 'endingFailure', 'endingGivesBack', 'parkedState', 'waiting', 'signature:' .. step, 'raw:' .. step .. ':0')
  if gives_back then give_back() end
  for scope in string.gmatch(field('locks') or '', '%S+') do
    if redis.call('HGET', key('locks'), scope) == ID then later('HDEL', key('locks'), scope) end
  end
  -- What revokes the job's leftovers is not what it was for.
  local mined = mined_at(field('doneStep') or step)
  local hash = mined and mined.attempt.hash or nil
  emit(state == 'FINAL' and 'jobCompleted' or 'transactionFailed', state, hash, failure)
  drop_signed_bytes()
  drop('locks', 'endingState', 'endingFailure', 'endingGivesBack', 'undoing', 'parkedState', 'spending', 'waiting')
  if state == 'CANCELLED' then drop('cancelRefused') end
  if failure then put('failure', failure) end
  set_state(state)
  later('ZREM', key('open'), ID)
  later('ZADD', key('ended'), text(now), ID)
  set_flight(step, false)
  just_ended = just_ended + 1
end

local function end_as_meant()
  local ending = field('endingState')
  end_job(ending, ending ~= 'FINAL' and field('endingFailure') or nil, field('endingGivesBack') == '1')
  return ending
end

local function set_ending(state, failure, gives_back)
  put('endingState', state, 'endingFailure', failure, 'endingGivesBack', gives_back)
end

-- A frozen lane may have sent what Redis lost: until the chain was read, nothing is signed, and a job whose step has no
-- nonce does not end as if nothing had been sent, since it would be submitted again.
local function is_frozen() return of_lane('frozen') end

-- A job that has already sent something is ended by the worker, which first undoes it.
local function reject_job(failure)
  if field('step') ~= '0' then
    set_ending('REJECTED', failure, '0')
    set_state('PLANNED')
    return done('PLANNED')
  end
  if is_frozen() then return refused('lane_frozen', 'AWAITING_APPROVAL') end
  end_job('REJECTED', failure, true)
  return done('REJECTED')
end

-- Stores ARGV[from] and all after it as the steps from the given one on, in place of the earlier ones.
local function write_steps(first, from)
  local before = tonumber(field('steps') or '0')
  local count = first + #ARGV - from + 1
  for index = count, before - 1 do drop('step:' .. text(index)) end
  for index = from, #ARGV do put('step:' .. text(first + index - from), ARGV[index]) end
  put('steps', text(count))
end

local function begin_undo(step, from, state, failure, gives_back)
  set_ending(state, failure, gives_back)
  write_steps(step, from)
  put('undoing', '1', 'step', text(step))
  set_state('PLANNED')
  return 'PLANNED'
end

local function park(failure)
  put('parkedState', field('state'), 'failure', failure)
  later('ZREM', key('open'), ID)
  set_flight(field('step'), false)
  set_state('NEEDS_OPERATOR')
  emit('jobNeedsOperator', 'NEEDS_OPERATOR', nil, failure)
end

-- Restores the state before the job was parked, and its places among the open jobs and in flight.
local function unpark()
  read('step', 'parkedState')
  local step, parked = field('step'), field('parkedState')
  local nonce = field('nonce:' .. step)
  if nonce then set_flight(step, nonce, parked == 'MINED') end
  later('ZADD', key('open'), redis.call('ZSCORE', key('jobs'), ID), ID)
  drop('parkedState', 'failure')
  set_state(parked)
  return parked
end

-- No two jobs of a lane have the same score, so that they stay in their order, and a page can end at any of them.
local function place_job()
  local newest = redis.call('ZREVRANGE', key('jobs'), 0, 0, 'WITHSCORES')
  local place = text(math.max(now, tonumber(newest[2] or '0') + 1))
  later('ZADD', key('open'), place, ID)
  later('ZADD', key('jobs'), place, ID)
end

-- Ends the step: goes to the next one, or ends the job.
local function advance(step)
  local following = tonumber(step) + 1
  if following < tonumber(field('steps')) then
    put('step', text(following))
    set_state('PLANNED')
    local doubt = field('nextInDoubt')
    if not doubt then return 'PLANNED' end
    drop('nextInDoubt')
    park(doubt)
    return 'NEEDS_OPERATOR'
  end
  if field('undoing') then return end_as_meant() end
  end_job('FINAL', nil, false)
  return 'FINAL'
end

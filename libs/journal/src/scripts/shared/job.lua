-- Shared by all transitions of a job. JOB is the job's hash; a transition that loops over many jobs sets JOB and ID
-- itself.
local JOB, ID = nil, nil
local FINAL = {FINAL = true, REVERTED = true, CANCELLED = true, REJECTED = true, PLAN_FAILED = true}

local function done(state) return {text(now), 'done', state} end
local function unchanged(state) return {text(now), 'unchanged', state} end

local function set_state(state) redis.call('HSET', JOB, 'state', state, 'at', text(now)) end

local function flight_name(step) return ID .. '/' .. step end

local owner_of, owner = nil, nil

-- An event's stream id is its sequence, so a reader can continue from an event's id.
local function emit(event, state, hash, failure)
  local sequence = text(redis.call('HINCRBY', LANE, 'sequence', 1))
  if owner_of ~= ID then owner_of, owner = ID, redis.call('HMGET', JOB, 'operation', 'keyId') end
  if has_consumers == nil then has_consumers = redis.call('EXISTS', key('consumers')) == 1 end
  local entry = {sequence .. '-0', 'type', event, 'job', ID, 'state', state, 'operation', owner[1], 'key', owner[2], 'at', text(now)}
  if hash then table.insert(entry, 'tx') table.insert(entry, hash) end
  if failure then table.insert(entry, 'error') table.insert(entry, failure) end
  if has_consumers then
    redis.call('XADD', key('events'), unpack(entry))
  else
    events_kept = events_kept or redis.call('HGET', LANE, 'eventsKept') or '10000'
    redis.call('XADD', key('events'), 'MAXLEN', '=', events_kept, unpack(entry))
  end
end

local function give_back()
  local counted = redis.call('HGET', JOB, 'spending')
  if not counted then return end
  local day = string.match(counted, '^(%d+)')
  for asset, amount in string.gmatch(counted, '([^ =]+)=(%d+)') do
    local total = redis.call('HGET', key('spent:' .. day), asset)
    -- An expired counter needs no correction.
    if total then redis.call('HSET', key('spent:' .. day), asset, subtract(total, amount)) end
  end
  redis.call('HDEL', JOB, 'spending')
end

local function forget(id)
  local job = key('job:' .. id)
  local known = redis.call('HMGET', job, 'idempotency', 'claimedAt')
  redis.call('HDEL', key('idempotency'), known[1] or '')
  redis.call('DEL', job)
  redis.call('ZREM', key('ended'), id)
  redis.call('ZREM', key('jobs'), id)
  local until_ms = tonumber(redis.call('HGET', LANE, 'forgottenUntil') or '0')
  redis.call('HSET', LANE, 'forgottenUntil', text(math.max(until_ms, tonumber(known[2] or '0'))))
end

-- A few per ended job, so that no call takes long and the number of ended jobs stays bounded.
local function forget_ended()
  local kept = redis.call('HMGET', LANE, 'retentionMs', 'jobsKept')
  if not kept[1] then return end
  local excess = redis.call('ZCARD', key('ended')) - tonumber(kept[2])
  local oldest = redis.call('ZRANGE', key('ended'), 0, 9, 'WITHSCORES')
  for index = 1, #oldest, 2 do
    if (index + 1) / 2 <= excess or tonumber(oldest[index + 1]) < now - tonumber(kept[1]) then forget(oldest[index]) end
  end
end

local function attempt_at(step, index)
  local line = redis.call('HGET', JOB, 'attempt:' .. step .. ':' .. index)
  if not line then return nil end
  local kind, hash = string.match(line, '^(%a+) (%w+) ')
  return {kind = kind, hash = hash, line = line}
end

local function attempt_count(step) return tonumber(redis.call('HGET', JOB, 'attempts:' .. step) or '0') end

local function find_attempt(step, hash)
  for index = 0, attempt_count(step) - 1 do
    local attempt = attempt_at(step, index)
    if attempt.hash == hash then
      attempt.index = index
      return attempt
    end
  end
end

local function mined_at(step)
  local hash, number, block = string.match(redis.call('HGET', JOB, 'mined:' .. step) or '', '^(%w+) (%d+) (%w+)$')
  return hash and {hash = hash, number = number, block = block}
end

-- The number of the step's signature and its bytes, `-` without any; 0 where nothing was signed.
local function signature_at(step)
  local number, bytes = string.match(redis.call('HGET', JOB, 'signature:' .. step) or '0 0 -', '^(%d+) %d+ (%S+)$')
  return tonumber(number), bytes
end

local function drop_signature(step)
  local line = redis.call('HGET', JOB, 'signature:' .. step)
  if line then redis.call('HSET', JOB, 'signature:' .. step, (string.gsub(line, '%S+$', '-'))) end
end

-- Signed bytes are of no use once the job has ended, and they are most of its size.
local function drop_signed_bytes()
  for step = 0, tonumber(redis.call('HGET', JOB, 'step')) do
    drop_signature(step)
    for index = 0, attempt_count(step) - 1 do
      local line = attempt_at(step, index).line
      redis.call('HSET', JOB, 'attempt:' .. step .. ':' .. index, (string.gsub(line, ' %w+$', ' -')))
    end
  end
end

local function end_job(state, failure, gives_back)
  if gives_back then give_back() end
  local job = redis.call('HMGET', JOB, 'locks', 'step', 'doneBy')
  for scope in string.gmatch(job[1] or '', '%S+') do
    if redis.call('HGET', key('locks'), scope) == ID then redis.call('HDEL', key('locks'), scope) end
  end
  drop_signed_bytes()
  redis.call('HDEL', JOB, 'locks', 'endingState', 'endingFailure', 'endingGivesBack', 'undoing', 'parkedState', 'spending', 'doneBy', 'waiting')
  redis.call('HSET', JOB, 'state', state, 'at', text(now), 'endedAt', text(now))
  if failure then redis.call('HSET', JOB, 'failure', failure) end
  redis.call('ZREM', key('open'), ID)
  redis.call('ZREM', key('flight'), flight_name(job[2]))
  redis.call('ZREM', key('unmined'), flight_name(job[2]))
  redis.call('ZADD', key('ended'), text(now), ID)
  local mined = mined_at(job[2])
  local hash = job[3] or mined and mined.hash
  emit(state == 'FINAL' and 'jobCompleted' or 'transactionFailed', state, hash, failure)
  forget_ended()
end

local function end_as_meant()
  local ending = redis.call('HMGET', JOB, 'endingState', 'endingFailure', 'endingGivesBack')
  end_job(ending[1], ending[1] ~= 'FINAL' and ending[2] or nil, ending[3] == '1')
  return ending[1]
end

local function set_ending(state, failure, gives_back)
  redis.call('HSET', JOB, 'endingState', state, 'endingFailure', failure, 'endingGivesBack', gives_back)
end

-- A frozen lane may have sent what Redis lost: until the chain was read, nothing is signed, and a job whose step has no
-- nonce does not end as if nothing had been sent, since it would be submitted again.
local function is_frozen() return redis.call('HEXISTS', LANE, 'frozen') == 1 end

-- A job that has already sent something is ended by the worker, which first undoes it.
local function reject_job(failure)
  if redis.call('HGET', JOB, 'step') ~= '0' then
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
  local before = tonumber(redis.call('HGET', JOB, 'steps') or '0')
  local count = first + #ARGV - from + 1
  for index = count, before - 1 do redis.call('HDEL', JOB, 'step:' .. text(index)) end
  for index = from, #ARGV do redis.call('HSET', JOB, 'step:' .. text(first + index - from), ARGV[index]) end
  redis.call('HSET', JOB, 'steps', text(count))
end

local function begin_undo(step, from, state, failure, gives_back)
  set_ending(state, failure, gives_back)
  write_steps(step, from)
  redis.call('HSET', JOB, 'undoing', '1', 'step', text(step))
  set_state('PLANNED')
  return 'PLANNED'
end

local function park(failure)
  local job = redis.call('HMGET', JOB, 'state', 'step')
  redis.call('HSET', JOB, 'parkedState', job[1], 'failure', failure)
  redis.call('ZREM', key('open'), ID)
  redis.call('ZREM', key('flight'), flight_name(job[2]))
  redis.call('ZREM', key('unmined'), flight_name(job[2]))
  set_state('NEEDS_OPERATOR')
  emit('jobNeedsOperator', 'NEEDS_OPERATOR', nil, failure)
end

-- Restores the state before the job was parked, and its places among the open jobs and in flight.
local function unpark()
  local job = redis.call('HMGET', JOB, 'step', 'parkedState', 'place')
  local nonce = redis.call('HGET', JOB, 'nonce:' .. job[1])
  if nonce then
    redis.call('ZADD', key('flight'), nonce, flight_name(job[1]))
    if job[2] ~= 'MINED' then redis.call('ZADD', key('unmined'), nonce, flight_name(job[1])) end
  end
  redis.call('ZADD', key('open'), job[3], ID)
  redis.call('HDEL', JOB, 'parkedState', 'failure')
  set_state(job[2])
  return job[2]
end

-- No two jobs of a lane have the same score, so that they stay in their order, and a page can end at any of them.
local function place_job()
  local newest = redis.call('ZREVRANGE', key('jobs'), 0, 0, 'WITHSCORES')
  local place = text(math.max(now, tonumber(newest[2] or '0') + 1))
  redis.call('ZADD', key('open'), place, ID)
  redis.call('ZADD', key('jobs'), place, ID)
  return place
end

-- Ends the step: goes to the next one, or ends the job.
local function advance(step)
  local job = redis.call('HMGET', JOB, 'steps', 'undoing', 'nextInDoubt')
  local following = tonumber(step) + 1
  if following < tonumber(job[1]) then
    redis.call('HSET', JOB, 'step', text(following))
    set_state('PLANNED')
    if not job[3] then return 'PLANNED' end
    redis.call('HDEL', JOB, 'nextInDoubt')
    park(job[3])
    return 'NEEDS_OPERATOR'
  end
  if job[2] then return end_as_meant() end
  end_job('FINAL', nil, false)
  return 'FINAL'
end

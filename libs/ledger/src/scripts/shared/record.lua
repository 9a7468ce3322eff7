-- The beginning of every ledger script: Redis's clock, the id of this server's run, and the record format.
local function now_ms()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

-- The replication id is new after every start and every promotion, so it identifies this run of this server.
local function server_run()
  local info = redis.call('INFO', 'replication')
  return string.match(info, 'master_replid:(%w+)'), info
end

-- One that has connected anew is listed twice for a while.
local function count_replicas(info)
  local seen, count = {}, 0
  for address in string.gmatch(info, 'slave%d+:(ip=[^,]+,port=%d+)') do
    if not seen[address] then seen[address], count = true, count + 1 end
  end
  return count
end

-- For whole numbers. Lua formats them faster as integers, of 64 bits: see checkServers.
local function text(number) return string.format('%d', number) end

local LINE = '^([LADRF]),(%d+),(%d+),(%d+),(%d+),(%d+),(%d*),([%w_%-]*)$'

local function read_record(line, by)
  if not line then return nil end
  local state, epoch, generation, releases, reproductions, at, til, owner = string.match(line, LINE)
  if not state then error('unreadable payment record') end
  local fingerprint, key = string.match(by or '', '^([%w_%-]+),([%w_%-]*)$')
  return {
    state = state, epoch = tonumber(epoch), generation = tonumber(generation), releases = tonumber(releases),
    reproductions = tonumber(reproductions), at = tonumber(at), til = tonumber(til) or 0,
    owner = owner, fingerprint = fingerprint, key = key
  }
end

-- An entry outlives every lease on it, and every pause.
local function outlive(entry, gone)
  local expires = redis.call('PEXPIRETIME', entry)
  if expires > 0 and expires < gone then redis.call('PEXPIREAT', entry, text(gone)) end
end

local function is_done(r) return r.state == 'D' or r.state == 'A' end

local function line_of(r)
  return string.format('%s,%d,%d,%d,%d,%d,%s,%s', r.state, r.epoch, r.generation, r.releases, r.reproductions, r.at,
    r.til > 0 and text(r.til) or '', r.owner)
end

-- Writes only the state: the request that a payment is for changes only in a claim.
local function write_state(entry, slot, r)
  redis.call('HSET', entry, slot, line_of(r))
end

local function write_record(entry, slot, r)
  redis.call('HSET', entry, slot, line_of(r), slot .. ':by', r.fingerprint .. ',' .. r.key)
end

local function read_entry(entry)
  local flat, fields, records = redis.call('HGETALL', entry), {}, {}
  for index = 1, #flat, 2 do fields[flat[index]] = flat[index + 1] end
  for slot, line in pairs(fields) do
    local by = fields[slot .. ':by']
    if by then
      records[slot] = read_record(line, by)
      records[slot].amount, records[slot].open = fields[slot .. ':amount'], fields[slot .. ':open']
      records[slot].pauses = fields[slot .. ':pauses']
    end
  end
  return records
end

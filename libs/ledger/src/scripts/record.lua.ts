/** Opens every script of the ledger: Redis's clock, the name of this server's run, and the record's line. */
export const RECORD_LUA = /* lua */ `
local function now_ms()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

-- The replication id is new after every start and every promotion, so it names this run of this server.
local function server_run()
  return string.match(redis.call('INFO', 'replication'), 'master_replid:(%w+)')
end

local function text(number) return string.format('%.0f', number) end

local LINE = '^([LADR]),(%d+),(%d+),(%d+),(%d+),(%d+),(%d*),([%w_%-]*),([%w_%-]*),([%w_%-]*)$'

local function read_record(line)
  if not line then return nil end
  local state, epoch, generation, releases, reproductions, at, til, owner, fingerprint, key = string.match(line, LINE)
  if not state then error('unreadable payment record') end
  return {
    state = state, epoch = tonumber(epoch), generation = tonumber(generation), releases = tonumber(releases),
    reproductions = tonumber(reproductions), at = tonumber(at), til = tonumber(til) or 0,
    owner = owner, fingerprint = fingerprint, key = key
  }
end

local function write_record(entry, slot, r)
  local til = ''
  if r.til > 0 then til = text(r.til) end
  redis.call('HSET', entry, slot, table.concat({
    r.state, text(r.epoch), text(r.generation), text(r.releases), text(r.reproductions), text(r.at), til,
    r.owner, r.fingerprint, r.key
  }, ','))
end

local function read_entry(entry)
  local flat, records = redis.call('HGETALL', entry), {}
  for index = 1, #flat, 2 do records[flat[index]] = read_record(flat[index + 1]) end
  return records
end
`;

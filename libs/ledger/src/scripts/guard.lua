-- KEYS birth; ARGV durable (1 when every write is on disk before it is acknowledged), head block or '', retention ms,
-- replicas that acknowledge every write before anything leaves, 1 when every payment is reported to the book, clock skew
-- ms. Returns `created`, `same`, `kept`, `raised` or `durability_differs`.
--
-- Atomic: comparing the run in the birth record with the run of this server, and raising the birth. Otherwise a payment
-- whose entry was lost with the last run could be accepted a second time in between.
local info = redis.call('INFO', 'replication')
if string.find(info, 'role:slave') then
  return redis.error_reply("READONLY the ledger needs a primary, this server is a replica")
end
local run = string.match(info, 'master_replid:(%w+)')
local predecessor = string.match(info, 'master_replid2:(%w+)')
local process = string.match(redis.call('INFO', 'server'), 'run_id:(%w+)')
if not run or not predecessor or not process then
  return redis.error_reply('ERR INFO hides what shows a failover from scripts')
end
local promoted = string.find(predecessor, '[^0]')
local durable, head, retention, replicas = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
-- One that need not acknowledge may be promoted.
if count_replicas(info) > replicas then replicas = 0 end
local booked, skew = ARGV[5] == '1', tonumber(ARGV[6])
local now = now_ms()
local birth = redis.call('HMGET', KEYS[1], 'run', 'epoch', 'at', 'block', 'exact', 'durable', 'retention', 'process',
  'replicas', 'booked', 'seen')
local old_retention = tonumber(birth[7] or '0')
retention = math.max(retention, old_retention)

local function born(epoch, at, block)
  redis.call('HSET', KEYS[1], 'run', run, 'process', process, 'epoch', text(epoch), 'at', text(at), 'block', text(block),
    'exact', head and '1' or '0', 'durable', durable, 'retention', text(retention), 'replicas', text(replicas),
    'seen', text(now))
  -- What was lost may include events, so the book is complete from now on only.
  redis.call('HDEL', KEYS[1], 'booked')
end

-- Whether any slot is on its way to or from this server. Not known counts as yes.
local function is_slot_moving()
  if string.find(redis.call('INFO', 'cluster'), 'cluster_enabled:0') then return false end
  local nodes = redis.pcall('CLUSTER', 'NODES')
  local own = type(nodes) == 'string' and string.match(nodes, '[^\n]*myself[^\n]*')
  return not own or string.find(own, '[', 1, true) ~= nil
end

-- Since when every payment is reported to the book.
local function keep_book(since)
  if booked and not since then redis.call('HSET', KEYS[1], 'booked', text(now)) end
  if not booked then redis.call('HDEL', KEYS[1], 'booked') end
end

if not birth[1] then
  born(1, now, head or 0)
  keep_book(nil)
  return 'created'
end

local epoch, at, block = tonumber(birth[2]), tonumber(birth[3]), tonumber(birth[4])
-- Where every replica has acknowledged whatever was answered, the replica that succeeds lacks nothing of it. The birth of
-- a run that is neither this process's nor its predecessor's is from before a restart, or came with a moved slot. After a
-- restart without loss, the write below follows every key in what the replicas receive. A replica that has it has them
-- all; one that lacks it finds a run that it did not follow, and counts as a loss. A promoted server may lack keys, and
-- those of a slot on its way may come after it.
local vouching = tonumber(birth[9])
local is_known = birth[1] == run or birth[1] == predecessor or birth[8] == process
if not is_known and (promoted or durable ~= '1' or birth[6] ~= '1' or is_slot_moving()) then vouching = 0 end
-- A process for which no replica acknowledges would take a promotion for a loss, though nothing is lost: it waits until
-- one of the others has been here. In a run that is known it lowers the number instead, so that the setting can change.
if birth[1] ~= run and promoted and vouching > 0 and ARGV[4] == '0' then return 'durability_differs' end
local acknowledged = math.min(replicas, vouching)
-- The same process that was never a replica has lost nothing, even with a new id: its first replica also changes it.
local lost = acknowledged == 0 and (promoted or (birth[8] ~= process and (durable ~= '1' or birth[6] ~= '1')))
-- A birth or an earlier guard that is later than now: the clock was ahead, and keys may have expired before their time.
-- Or it is behind now, which looks the same. So a birth moves back only with the chain's head, up to whose block all is
-- refused; a claim that finds one comes here and brings it. A difference between the clocks of two servers is neither.
local seen = tonumber(birth[11])
local was_ahead = head and math.max(at, seen) > now + skew
if was_ahead or (birth[1] ~= run and lost) then
  born(epoch + 1, was_ahead and now or math.max(at, now), math.max(block, head or 0))
  keep_book(nil)
  return 'raised'
end

-- Entries written under a shorter retention may have expired: payments that they no longer cover are refused.
if old_retention > 0 and retention > old_retention then at = math.max(at, now - old_retention) end
-- A birth recorded by a process without the chain's head gets its block from the first process that has it.
if head and birth[5] == '0' and now - at < 60000 then
  block = math.max(block, head)
  redis.call('HSET', KEYS[1], 'exact', '1')
end
redis.call('HSET', KEYS[1], 'run', run, 'process', process, 'at', text(at), 'block', text(block), 'durable', durable,
  'retention', text(retention), 'replicas', text(acknowledged), 'seen', text(math.max(seen, now)))
keep_book(birth[10])
return birth[1] == run and 'same' or 'kept'

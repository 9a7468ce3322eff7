-- KEYS lane; ARGV durable (1 when every write is on disk before it is acknowledged), retention ms, ended jobs kept,
-- events kept, 1 when writes count only once replicas have them. Returns {now, `unadopted` | `same` | `frozen`}.
--
-- Atomic: comparing the run stored in the lane with the run of this server, and freezing the lane. If a reservation
-- came between, a nonce whose reservation was lost would be given to another step, or a sent step would be sent again.
local info = redis.call('INFO', 'replication')
if string.find(info, 'role:slave') then
  return redis.error_reply('READONLY the journal needs a primary, this server is a replica')
end
local run, process = server_run(), string.match(redis.call('INFO', 'server'), 'run_id:(%w+)')
local predecessor = string.match(info, 'master_replid2:(%w+)')
if not run or not predecessor or not process then
  return redis.error_reply('ERR INFO hides what shows a failover from scripts')
end
local promoted = string.find(predecessor, '[^0]')
local lane = redis.call('HMGET', LANE, 'nextNonce', 'run', 'process', 'durable', 'frozen', 'acknowledged')
redis.call('HSET', LANE, 'run', run, 'process', process, 'durable', ARGV[1], 'retentionMs', ARGV[2], 'jobsKept', ARGV[3],
  'eventsKept', ARGV[4], 'acknowledged', ARGV[5])
if not lane[1] then return {text(now), 'unadopted'} end
-- The same process, never a replica, has lost nothing. Its replication id also changes when it gets its first replica.
if lane[2] == run or (lane[3] == process and not promoted) then return {text(now), 'same'} end
-- A restored old data file looks like a restart, so the chain is checked after every restart.
-- A promoted replica may lack writes, unless none counts without it: neither this process's nor those of before.
local acknowledged = ARGV[5] == '1' and lane[6] == '1'
local lost = (promoted and not acknowledged) or ARGV[1] ~= '1' or lane[4] ~= '1'
redis.call('HDEL', LANE, 'gap')
if lost then redis.call('HDEL', LANE, 'ownFrom') end
if not lane[5] or lane[5] == 'restarted' then redis.call('HSET', LANE, 'frozen', lost and 'lost' or 'restarted') end
return {text(now), 'frozen'}

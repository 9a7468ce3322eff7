/**
 * KEYS lane; ARGV durable (1 when every write is on disk before it is acknowledged), retention ms, ended jobs kept, events
 * kept. Answers {now, `unadopted` | `same` | `frozen`}.
 *
 * Atomic: comparing the run named in the lane with the run of this server, and freezing the lane. If a reservation came
 * between, a nonce that a lost write had given out would be given to another step, and a sent step would be sent again.
 */
export const GUARD_LANE_LUA = /* lua */ `
local info = redis.call('INFO', 'replication')
if not string.find(info, 'role:master') then
  return redis.error_reply('READONLY the journal needs a primary, this server is a replica')
end
local run, process = server_run(), string.match(redis.call('INFO', 'server'), 'run_id:(%w+)')
local promoted = string.find(string.match(info, 'master_replid2:(%w+)') or '0', '[^0]')
local lane = redis.call('HMGET', LANE, 'nextNonce', 'run', 'process', 'durable', 'frozen')
redis.call('HSET', LANE, 'run', run, 'process', process, 'durable', ARGV[1], 'retentionMs', ARGV[2], 'jobsKept', ARGV[3],
  'eventsKept', ARGV[4])
if not lane[1] then return {text(now), 'unadopted'} end
-- The same process that was never a replica has lost nothing: its first replica, too, gives it a new run.
if lane[2] == run or (lane[3] == process and not promoted) then return {text(now), 'same'} end
-- An old file that was put back looks like a restart: the chain is asked after every one.
local lost = promoted or ARGV[1] ~= '1' or lane[4] ~= '1'
if not lane[5] or lane[5] == 'restarted' then redis.call('HSET', LANE, 'frozen', lost and 'lost' or 'restarted') end
return {text(now), 'frozen'}
`;

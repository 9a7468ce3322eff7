-- KEYS lane; ARGV the chain's pending nonce, the run of the server during which it was read, the number of the chain's
-- latest block, then how many blocks and milliseconds must lie between two readings that agree where writes were lost.
-- Returns {now, `done` | `unchanged`} or a refusal.
--
-- Atomic: checking, within the same run, that the counter is not behind the chain, and unfreezing the lane. If Redis
-- was replaced in between, the chain's old answer would vouch for a counter it was never compared with.
local lane = redis.call('HMGET', LANE, 'nextNonce', 'frozen', 'run', 'reading')
if not lane[1] then return refused('not_adopted') end
if not lane[2] then return {text(now), 'unchanged'} end
if lane[3] ~= ARGV[2] or ARGV[2] ~= server_run() then return refused('lane_frozen') end
-- The freeze lasts until the lane is adopted: a later reading may come from an RPC server that is behind.
if lane[2] == 'chain_ahead' or tonumber(ARGV[1]) > tonumber(lane[1]) then
  redis.call('HSET', LANE, 'frozen', 'chain_ahead')
  return refused('chain_ahead')
end
-- An RPC server that is behind does not show yet what was sent, and Redis may have lost, a moment ago.
if lane[2] == 'lost' then
  local nonce, run, block, at = string.match(lane[4] or '', '^(%d+) (%w+) (%d+) (%d+)$')
  if nonce ~= ARGV[1] or run ~= ARGV[2] or tonumber(at) > now then
    block, at = ARGV[3], text(now)
    redis.call('HSET', LANE, 'reading', table.concat({ARGV[1], ARGV[2], block, at}, ' '))
  end
  if ARGV[3] - block < tonumber(ARGV[4]) or now - at < tonumber(ARGV[5]) then return refused('too_early') end
end
redis.call('HDEL', LANE, 'frozen', 'reading')
return {text(now), 'done'}

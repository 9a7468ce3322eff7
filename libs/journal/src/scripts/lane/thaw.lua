-- KEYS lane; ARGV the chain's pending nonce, the run of the server during which it was read. Returns {now, `done` |
-- `unchanged`} or a refusal.
--
-- Atomic: checking, within the same run, that the counter is not behind the chain, and unfreezing the lane. If Redis
-- was replaced in between, the chain's old answer would vouch for a counter it was never compared with.
local lane = redis.call('HMGET', LANE, 'nextNonce', 'frozen', 'run')
if not lane[1] then return refused('not_adopted') end
if not lane[2] then return {text(now), 'unchanged'} end
if lane[3] ~= ARGV[2] or ARGV[2] ~= server_run() then return refused('lane_frozen') end
if tonumber(ARGV[1]) > tonumber(lane[1]) then
  redis.call('HSET', LANE, 'frozen', 'chain_ahead')
  return refused('chain_ahead')
end
redis.call('HDEL', LANE, 'frozen')
return {text(now), 'done'}

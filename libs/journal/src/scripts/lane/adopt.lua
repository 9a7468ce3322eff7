-- KEYS lane; ARGV the chain's pending nonce, failure for jobs in doubt. Returns {now, `done`} or a refusal.
--
-- Atomic: checking that the lane has no counter in use, setting it, and parking the jobs in doubt. If a reservation
-- came between, a nonce would be given out twice.
local lane = redis.call('HMGET', LANE, 'nextNonce', 'frozen', 'paused')
local pending, known = tonumber(ARGV[1]), tonumber(lane[1])
if known and not lane[2] and not lane[3] then return refused('already_adopted') end
-- The chain has transactions that Redis may have lost. A step without a nonce may be one of them: that of an open job, or
-- the next one of a job whose step has a nonce.
if known and lane[2] and pending > known then
  for _, id in ipairs(redis.call('ZRANGE', key('open'), 0, -1)) do
    JOB, ID = key('job:' .. id), id
    local step = redis.call('HGET', JOB, 'step')
    if redis.call('HEXISTS', JOB, 'nonce:' .. step) == 0 then
      park(ARGV[2])
    else
      redis.call('HSET', JOB, 'nextInDoubt', ARGV[2])
    end
  end
end
redis.call('HSET', LANE, 'nextNonce', text(math.max(known or 0, pending)), 'adoptedAt', text(now))
redis.call('HDEL', LANE, 'frozen')
return {text(now), 'done'}

-- KEYS lane; ARGV the chain's pending nonce, failure for jobs in doubt. Returns {now, `done`} or a refusal.
--
-- Atomic: checking that the lane has no counter in use, setting it, and parking the jobs in doubt. If a reservation
-- came between, a nonce would be given out twice.
local lane = redis.call('HMGET', LANE, 'nextNonce', 'frozen', 'paused', 'forgottenUntil')
local pending, known = tonumber(ARGV[1]), tonumber(lane[1])
if known and not lane[2] and not lane[3] then return refused('already_adopted') end
-- The chain has, or had when it was compared, transactions that Redis may have lost. A step without a nonce may be one of
-- them: that of a job that has not ended, or the next one of a job whose step has a nonce.
local is_ahead = known and lane[2] and (pending > known or lane[2] == 'chain_ahead')
if is_ahead then
  for _, id in ipairs(redis.call('ZRANGE', key('jobs'), 0, -1)) do
    if not redis.call('ZSCORE', key('ended'), id) then
      open_job(key('job:' .. id))
      read('state', 'step')
      if field('nonce:' .. tostring(field('step'))) then
        put('nextInDoubt', ARGV[2])
      elseif field('state') == 'NEEDS_OPERATOR' then
        put('failure', ARGV[2])
      else
        park(ARGV[2])
      end
      save_job()
    end
  end
end
-- A job may be lost whose idempotency key, on another server of a cluster, is not: it would be sent again under that key.
-- So also where all of the lane may be lost: the account has sent something, and the lane does not say what.
if is_ahead or (not known and pending > 0) then
  redis.call('HSET', LANE, 'forgottenUntil', text(math.max(tonumber(lane[4] or '0'), now)))
end
redis.call('HSET', LANE, 'nextNonce', text(math.max(known or 0, pending)), 'adoptedAt', text(now))
-- No lower nonce was given out here, unless the account was released since. What Redis may have lost, nothing shows.
if known or lane[4] then redis.call('HDEL', LANE, 'ownFrom') else redis.call('HSET', LANE, 'ownFrom', text(pending)) end
redis.call('HDEL', LANE, 'frozen', 'gap')
return {text(now), 'done'}

-- KEYS lane; ARGV the lease's token, the nonce that the chain wants and no step in flight has, or '' where there is none.
-- Returns {now, `done`} or a refusal. The gap is stored with the job and step that had the nonce, `- -` without.
--
-- Atomic: checking that no step in flight has the nonce, finding the job that had it, and noting both. If a fill came
-- between, its nonce would be filled again.
if is_stale(ARGV[1]) then return refused('stale_token') end
local nonce = ARGV[2]
if nonce == '' or flying_with(nonce) then
  redis.call('HDEL', LANE, 'gap')
  return {text(now), 'done'}
end
local function holder()
  for _, id in ipairs(redis.call('ZREVRANGE', key('jobs'), 0, -1)) do
    local job = redis.call('HMGET', key('job:' .. id), 'step', 'fingerprint')
    -- A fill that has ended had the nonce only in the place of that job.
    for step = job[2] == 'fill' and -1 or tonumber(job[1] or '-1'), 0, -1 do
      if redis.call('HGET', key('job:' .. id), 'nonce:' .. text(step)) == nonce then return id .. ' ' .. text(step) end
    end
  end
  return '- -'
end
redis.call('HSET', LANE, 'gap', nonce .. ' ' .. holder())
return {text(now), 'done'}

-- KEYS lane; ARGV fleet, `1` to release or '' to only check. Returns {now, `done`, ended jobs}, {now, `unchanged`}
-- where no fleet has the account, or a refusal; `lane_busy` comes with the numbers of open jobs, of steps that have a
-- nonce and have not ended, and of parked jobs.
--
-- Atomic: checking that nothing of the lane is in progress, and deleting its counter and its fleet. If a job was
-- accepted in between, it would be lost, and the next fleet to adopt the account would give out its nonce again.
local lane = redis.call('HMGET', LANE, 'fleet', 'frozen', 'leaseToken', 'run')
if not lane[1] then return {text(now), 'unchanged'} end
if lane[1] ~= ARGV[1] then return refused('not_adopted') end
if is_held() then return refused('lane_held') end
if lane[2] or lane[4] ~= server_run() then return refused('lane_frozen') end
local open, flight = redis.call('ZCARD', key('open')), redis.call('ZCARD', key('flight'))
local ended = redis.call('ZCARD', key('ended'))
local parked = redis.call('ZCARD', key('jobs')) - open - ended
if open + flight + parked > 0 then return refused('lane_busy', '', text(open), text(flight), text(parked)) end
for _, position in ipairs(redis.call('HVALS', key('consumers'))) do
  if tonumber(position) < last_sequence() then return refused('events_unread') end
end
-- The verifier or worker trims it once the bookkeeper has read it, which finds it by the lane's name alone.
if redis.call('XLEN', key('book')) > 0 then return refused('events_unread') end
if ARGV[2] == '' then return {text(now), 'done', text(ended)} end

for _, id in ipairs(redis.call('ZRANGE', key('jobs'), 0, -1)) do redis.call('UNLINK', key('job:' .. id)) end
for _, name in ipairs({'jobs', 'ended', 'idempotency', 'events', 'book', 'consumers', 'locks', 'shares'}) do
  redis.call('UNLINK', key(name))
end
redis.call('DEL', LANE)
-- Earlier leases stay stale, and earlier idempotency keys are answered as forgotten, never carried out again.
redis.call('HSET', LANE, 'leaseToken', lane[3] or '0', 'forgottenUntil', text(now))
return {text(now), 'done', text(ended)}

/**
 * KEYS lane; ARGV fleet, `1` to do it or '' to only look. Answers {now, `done`, ended jobs}, {now, `unchanged`} where the
 * account has no role, or a refusal; `lane_busy` with open jobs, steps that have a nonce and no end, and parked jobs.
 *
 * Atomic: seeing that nothing of the lane is under way, and taking its counter and its role from it. If a job was accepted in
 * between, it would be lost, and its nonce given out again by whoever adopts the account next.
 */
export const RELEASE_LANE_LUA = /* lua */ `
local lane = redis.call('HMGET', LANE, 'fleet', 'leaseOwner', 'leaseUntil', 'frozen', 'leaseToken', 'sequence', 'run')
if not lane[1] then return {text(now), 'unchanged'} end
if lane[1] ~= ARGV[1] then return refused('not_adopted') end
if lane[2] and tonumber(lane[3]) > now then return refused('lane_held') end
if lane[4] or lane[7] ~= server_run() then return refused('lane_frozen') end
local open, flight = redis.call('ZCARD', key('open')), redis.call('ZCARD', key('flight'))
local ended = redis.call('ZCARD', key('ended'))
local parked = redis.call('ZCARD', key('jobs')) - open - ended
if open + flight + parked > 0 then return refused('lane_busy', '', text(open), text(flight), text(parked)) end
for _, position in ipairs(redis.call('HVALS', key('consumers'))) do
  if tonumber(position) < tonumber(lane[6] or '0') then return refused('events_unread') end
end
if ARGV[2] == '' then return {text(now), 'done', text(ended)} end

for _, id in ipairs(redis.call('ZRANGE', key('jobs'), 0, -1)) do redis.call('UNLINK', key('job:' .. id)) end
for _, name in ipairs({'jobs', 'ended', 'idempotency', 'events', 'consumers', 'approvals'}) do redis.call('UNLINK', key(name)) end
redis.call('DEL', LANE)
-- A lease of old stays stale, and what was asked before is answered as forgotten, never done again.
redis.call('HSET', LANE, 'leaseToken', lane[5] or '0', 'forgottenUntil', text(now))
return {text(now), 'done', text(ended)}
`;

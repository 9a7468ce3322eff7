-- KEYS lane; ARGV consumer, sequence up to which it has everything, or '' to start at the oldest stored event, and the
-- run of the server since before it read them. Returns {now, `done`, position, run}, a refusal, or {now, `discontinued`}.
--
-- Atomic: checking that the server is the one whose events the consumer has, moving the consumer, never back, and
-- trimming events that all consumers have passed. If Redis lost events and others took their sequences in between, those
-- would be passed unread; if a consumer was added, events it has not read would be trimmed.
if ARGV[2] ~= '' and ARGV[3] ~= server_run() then return refused('lost_race') end
local consumers, events = key('consumers'), key('events')
local before = redis.call('HGET', consumers, ARGV[1])
local position = tonumber(before or '0')
if ARGV[2] ~= '' then
  position = math.max(position, math.min(tonumber(ARGV[2]), last_sequence()))
end
if before ~= text(position) then redis.call('HSET', consumers, ARGV[1], text(position)) end
local slowest = position
for _, other in ipairs(redis.call('HVALS', consumers)) do slowest = math.min(slowest, tonumber(other)) end
local passed = math.min(slowest, last_sequence() - tonumber(of_lane('eventsKept') or '10000'))
if passed > 0 then redis.call('XTRIM', events, 'MINID', '=', text(passed + 1) .. '-0') end
return {text(now), 'done', text(position), server_run()}

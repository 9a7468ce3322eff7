-- KEYS lane, job; ARGV token, name, value. Returns {now, `done`, the stored value} or a refusal.
--
-- Atomic: checking that the detail is not set, and setting it. If another worker came between, a payment would be made
-- for one challenge and redeemed with another.
local state = redis.call('HGET', JOB, 'state')
if not state then return refused('not_found') end
if is_stale(ARGV[1]) then return refused('stale_token', state) end
if FINAL[state] then return refused('wrong_state', state) end
redis.call('HSETNX', JOB, 'detail:' .. ARGV[2], ARGV[3])
return {text(now), 'done', redis.call('HGET', JOB, 'detail:' .. ARGV[2])}

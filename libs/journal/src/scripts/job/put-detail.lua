-- KEYS lane, job; ARGV token, name, value. Returns {now, `done`, the stored value} or a refusal.
--
-- Atomic: checking that the detail is not set, and setting it. If another worker came between, a payment would be made
-- for one challenge and redeemed with another.
local state, name = field('state'), 'detail:' .. ARGV[2]
if not state then return refused('not_found') end
if is_stale(ARGV[1]) then return refused('stale_token', state) end
if FINAL[state] then return refused('wrong_state', state) end
if not field(name) then put(name, ARGV[3]) end
return {text(now), 'done', field(name)}

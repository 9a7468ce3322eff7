-- KEYS lane, job; ARGV token, step, most steps in flight. Returns {now, `done` | `unchanged`, state, nonce}, a refusal,
-- or {now, `discontinued`} when the server's run is not the one stored in the lane.
--
-- Atomic: checking that the step has no nonce, taking the wallet's next, and writing both. If another worker came
-- between, a step could have two nonces and be mined twice, two steps could share a nonce, or a nonce could be lost and
-- leave a gap.
if not of_lane('nextNonce') then return refused('not_adopted', state) end
if of_lane('run') ~= server_run() then return {text(now), 'discontinued'} end
if is_other then return refused('wrong_step', state) end
if FINAL[state] or state == 'NEEDS_OPERATOR' or state == 'AWAITING_APPROVAL' then return refused('wrong_state', state) end
if is_frozen() then return refused('lane_frozen', state) end
local nonce = field('nonce:' .. step)
if nonce then return {text(now), 'unchanged', state, nonce} end
if state ~= 'PLANNED' or tonumber(step) >= steps then return refused('wrong_state', state) end
if ending and not undoing then return refused('ending', state) end
if of_lane('paused') then return refused('lane_paused', state) end
if redis.call('ZCOUNT', key('flight'), 0, '+inf') >= tonumber(ARGV[3]) then return refused('lane_full', state) end

nonce = of_lane('nextNonce')
known_of_lane.nextNonce = text(tonumber(nonce) + 1)
later('HSET', LANE, 'nextNonce', known_of_lane.nextNonce)
put('nonce:' .. step, nonce)
set_flight(step, nonce)
set_state('RESERVED')
return {text(now), 'done', 'RESERVED', nonce}

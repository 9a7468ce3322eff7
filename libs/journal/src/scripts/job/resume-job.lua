-- KEYS lane, job. Returns a transition.
--
-- Atomic: restoring the job's earlier state, and its place among the open jobs. If a crash came between, it would be
-- open but never looked at.
read('state', 'step', 'parkedState')
local state, step, parked = field('state'), field('step'), field('parkedState')
if not state then return refused('not_found') end
if FINAL[state] then return refused('wrong_state', state) end
if state ~= 'NEEDS_OPERATOR' then return unchanged(state) end
local nonce = field('nonce:' .. step)
if nonce then set_flight(step, nonce, parked == 'MINED') end
later('ZADD', key('open'), redis.call('ZSCORE', key('jobs'), ID), ID)
drop('parkedState', 'failure')
set_state(parked)
return done(parked)

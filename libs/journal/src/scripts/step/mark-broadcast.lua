-- KEYS lane, job; ARGV token, step, transaction hash. Returns a transition.
--
-- Atomic: noting that an attempt was sent, and its event. Otherwise an event could be missing or written twice.
if is_past then return unchanged(state) end
if is_other then return refused('wrong_step', state) end
local attempt = find_attempt(step, ARGV[3])
if not attempt then return refused('wrong_state', state) end
if not mark_sent(attempt) then return unchanged(state) end
if state == 'SIGNED' then state = 'BROADCAST' set_state(state) end
return done(state)

-- KEYS lane, job; ARGV token, step, failure. Returns a transition.
--
-- Atomic: removing the job from the open jobs, and its event. If a crash came between, the job would wait for an
-- operator that was never notified.
if state == 'NEEDS_OPERATOR' then return unchanged(state) end
if FINAL[state] then return refused('wrong_state', state) end
if is_other then return refused('wrong_step', state) end
park(ARGV[3])
return done('NEEDS_OPERATOR')

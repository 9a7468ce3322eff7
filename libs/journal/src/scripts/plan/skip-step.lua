-- KEYS lane, job; ARGV token, step. Returns a transition.
--
-- Atomic: checking that the step has no nonce, and going to the next. If a reservation came between, its nonce would
-- never be used.
if is_past then return unchanged(state) end
if is_other then return refused('wrong_step', state) end
if state ~= 'PLANNED' or not field('plan') then return refused('wrong_state', state) end
if ending and not undoing then return refused('ending', state) end
if tonumber(step) < steps then put('skipped:' .. step, '1') end
return done(advance(step))

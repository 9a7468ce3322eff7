-- KEYS lane, job; ARGV token, step, the block's hash. Returns a transition.
--
-- Atomic: checking that the step is still in that block, and putting it back to BROADCAST. If the step was found in
-- another block in between, that block would be lost.
if is_other then return refused('wrong_step', state) end
if state == 'BROADCAST' then return unchanged(state) end
if state ~= 'MINED' then return refused('wrong_state', state) end
if mined_at(step).block ~= ARGV[3] then return unchanged(state) end
drop('mined:' .. step)
set_flight(step, field('nonce:' .. step))
set_state('BROADCAST')
return done('BROADCAST')

-- KEYS lane, job; ARGV token, step, the signature's number, 1 where it is void. Returns a transition.
--
-- Atomic: checking that this is the step's signature, and continuing or ending the job, or having it planned anew. If
-- another signature came between, that one would be taken for void and a third be made beside it.
if is_past then return unchanged(state) end
if is_other then return refused('wrong_step', state) end
local number, bytes = signature_at(step)
if number ~= tonumber(ARGV[3]) then return refused(number == 0 and 'wrong_state' or 'lost_race', state) end
if bytes == '-' then return unchanged(state) end
if state ~= 'SIGNED' then return refused('wrong_state', state) end
drop_signature(step)
if ARGV[4] ~= '1' then return done(advance(step)) end
set_state('PLANNED')
return done('PLANNED')

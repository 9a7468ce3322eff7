-- KEYS lane, job; ARGV token, step, failure. Returns a transition.
--
-- Atomic: checking that the step is given up and not mined, ending the job, and the event. If its transaction was found mined
-- in between, a fill that took place would be told as one that did not.
if is_past then return unchanged(state) end
if is_other then return refused('wrong_step', state) end
local is_unmined = state == 'RESERVED' or state == 'SIGNED' or state == 'BROADCAST'
if not is_unmined or not field('void:' .. step) then return refused('wrong_state', state) end
end_job('CANCELLED', ARGV[3], false)
return done('CANCELLED')

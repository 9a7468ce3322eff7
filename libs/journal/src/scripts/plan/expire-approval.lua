-- KEYS lane, job; ARGV token, step, how many milliseconds it must have waited, failure. Returns a transition.
--
-- Atomic: checking that the job has waited this long without an approval, ending it, and its event. If an approval came
-- between, a job would be ended although its approver was answered that it continues.
if is_past then return unchanged(state) end
if is_other then return refused('wrong_step', state) end
if state ~= 'AWAITING_APPROVAL' then return refused('wrong_state', state) end
if now - tonumber(field('at')) < tonumber(ARGV[3]) then return refused('too_early', state) end
return reject_job(ARGV[4])

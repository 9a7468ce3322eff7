-- KEYS lane, job; ARGV failure. Returns a transition.
--
-- Atomic: checking that the job still waits, ending it, and its event. If an approval came between, a rejected job
-- would be carried out. A job that has already sent something is ended by the worker, which first undoes it.
local state = field('state')
if not state then return refused('not_found') end
if state == 'REJECTED' then return unchanged(state) end
if state ~= 'AWAITING_APPROVAL' then return refused('wrong_state', state) end
return reject_job(ARGV[1])

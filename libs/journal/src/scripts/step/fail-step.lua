-- KEYS lane, job; ARGV token, step, hash of the block that is deep enough, failure, 1 when nothing was spent, then the
-- steps that undo the job. Returns a transition.
--
-- Atomic: checking in which block the step failed, ending the job or starting to undo it, and the event. If a
-- reorganisation came between, a job that may yet succeed would be marked as failed.
if is_past then return unchanged(state) end
if is_other then return refused('wrong_step', state) end
if state ~= 'MINED' then return refused('wrong_state', state) end
if mined_at(step).block ~= ARGV[3] then return refused('lost_race', state) end
set_flight(step, false)
-- Undoing is tried once: the job's steps show which allowance may be left.
if undoing then return done(end_as_meant()) end
if #ARGV >= 6 then return done(begin_undo(tonumber(step) + 1, 6, 'REVERTED', ARGV[4], ARGV[5])) end
end_job('REVERTED', ARGV[4], ARGV[5] == '1')
return done('REVERTED')

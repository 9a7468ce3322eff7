-- KEYS lane, job; ARGV token, step, failure, 1 when nothing was spent, then the steps that undo the job. Returns a
-- transition.
--
-- Atomic: checking whether the step has a nonce, and ending the job, starting to undo it, or voiding the step. If a
-- reservation came between, the nonce of an ended job would stay unused and stop the lane.
local failure, gives_back, has_undo = ARGV[3], ARGV[4], #ARGV >= 5
if is_past then return unchanged(state) end
if is_other then return refused('wrong_step', state) end

if state == 'RESERVED' and attempt_count(step) == 0 then
  if field('void:' .. step) then return unchanged(state) end
  put('void:' .. step, '1')
  if not ending then set_ending('PLAN_FAILED', failure, gives_back) end
  return done(state)
end
if state ~= 'PLANNED' and state ~= 'AWAITING_APPROVAL' then return refused('wrong_state', state) end
if is_frozen() then return refused('lane_frozen', state) end
if undoing then
  -- The call that started the undo, repeated because its reply was lost.
  if has_undo then return unchanged(state) end
  return done(end_as_meant())
end
local final = ending or 'PLAN_FAILED'
if ending then failure = field('endingFailure') end
if has_undo then return done(begin_undo(tonumber(step), 5, final, failure, gives_back)) end
end_job(final, failure, gives_back == '1')
return done(final)

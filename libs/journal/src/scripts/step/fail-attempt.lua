-- KEYS lane, job; ARGV token, step, hash of the attempt, failure, 1 when nothing was spent, 1 if an RPC server may have
-- accepted an attempt. Returns a transition.
--
-- Atomic: checking which attempt is the last and whether an RPC server accepted one, and voiding the step. If another
-- worker sent an attempt in between, a step that is in flight would be marked as failed.
if is_past then return unchanged(state) end
if is_other then return refused('wrong_step', state) end
if state ~= 'SIGNED' and not (state == 'BROADCAST' and ARGV[6] == '1') then return refused('wrong_state', state) end
if field('void:' .. step) then return unchanged(state) end
-- The step is not void, so every cancel among its attempts was refused.
local last
for index = 0, attempt_count(step) - 1 do
  local attempt = attempt_at(step, index)
  if attempt.kind ~= 'cancel' then last = attempt end
end
if not last or last.hash ~= ARGV[3] then return refused('lost_race', state) end
put('void:' .. step, '1')
if not ending then set_ending('PLAN_FAILED', ARGV[4], ARGV[5]) end
return done(state)

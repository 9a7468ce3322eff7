-- KEYS lane, job; ARGV failure. Returns a transition, or {now, `cancelling`, state} where the worker has to end the
-- job.
--
-- Atomic: checking whether a nonce was taken, and ending the job or voiding its step. If a reservation came between,
-- the nonce of an ended job would stay unused, and every later transaction of the wallet would wait indefinitely.
read('state', 'step', 'steps', 'endingState')
local state, step, ending = field('state'), field('step'), field('endingState')
if not state then return refused('not_found') end
if state == 'CANCELLED' then return unchanged(state) end
if ending == 'CANCELLED' then return {text(now), 'cancelling', state} end
if FINAL[state] or ending then return refused('too_late', state) end
if state == 'NEEDS_OPERATOR' then return refused('wrong_state', state) end

if state == 'AWAITING_APPROVAL' or state == 'PLANNED' then
  if step == '0' then
    if is_frozen() then return refused('lane_frozen', state) end
    end_job('CANCELLED', ARGV[1], true)
    return done('CANCELLED')
  end
  -- Earlier steps may have left allowances behind: the worker revokes them before the job ends.
  set_ending('CANCELLED', ARGV[1], '0')
  set_state('PLANNED')
  return {text(now), 'cancelling', 'PLANNED'}
end
local _, signature = signature_at(step)
if signature ~= '-' then
  -- Whoever has the signature can use it, and nothing that the wallet sends competes with it.
  return refused('too_late', state)
elseif state == 'MINED' then
  if tonumber(step) + 1 >= tonumber(field('steps')) then return refused('too_late', state) end
else
  put('void:' .. step, '1')
end
drop('cancelRefused')
set_ending('CANCELLED', ARGV[1], step == '0' and '1' or '0')
return {text(now), 'cancelling', state}

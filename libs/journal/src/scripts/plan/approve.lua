-- KEYS lane, job; ARGV floors hash, key id of the approver. Returns a transition.
--
-- Atomic: comparing the plan's bounds with the approved ones, and letting the job continue. If a new plan came between,
-- the approver would have approved a price it never saw.
read('state', 'keyId', 'floorsHash', 'approvedHash')
local state = field('state')
if not state then return refused('not_found') end
if field('keyId') == ARGV[2] then return refused('own_job', state) end
if state ~= 'AWAITING_APPROVAL' then
  if field('approvedHash') == ARGV[1] and not FINAL[state] then return unchanged(state) end
  return refused('wrong_state', state)
end
if field('floorsHash') ~= ARGV[1] then return refused('floors_changed', state) end
put('approvedHash', ARGV[1], 'approvedBy', ARGV[2])
set_state('PLANNED')
return done('PLANNED')

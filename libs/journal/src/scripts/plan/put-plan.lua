-- KEYS lane, job; ARGV token, step, floors hash, 1 when an approval is needed, plan, then the steps from this one on.
-- Returns a transition.
--
-- Atomic: checking that nothing of the step is signed, comparing the plan's bounds with the approved ones, replacing
-- the steps, and the event that an approval is needed. If an attempt came between, the job would show other calls than
-- it sends.
if is_other then return refused('wrong_step', state) end
if ending and not undoing then return refused('ending', state) end
local is_reserved = state == 'RESERVED' and not field('void:' .. step)
if not is_reserved and state ~= 'PLANNED' and state ~= 'AWAITING_APPROVAL' then return refused('wrong_state', state) end

local floors, needs = ARGV[3], ARGV[4] == '1'
local waits = needs and field('approvedHash') ~= floors
-- A step that is a signature would leave the nonce unused.
if is_reserved and (waits or #ARGV < 6 or cjson.decode(ARGV[6]).signs) then return refused('floors_changed', state) end
write_steps(tonumber(step), 6)
put('floorsHash', floors, 'needsApproval', ARGV[4], 'plan', ARGV[5])
local waited = state == 'AWAITING_APPROVAL'
if not is_reserved then state = waits and 'AWAITING_APPROVAL' or 'PLANNED' end
set_state(state)
if waits and not waited then
  local needed = {
    '"code":"APPROVAL_NEEDED"',
    '"message":"The job needs an approval."',
    '"suggestion":"Look at its plan, then approve it by its floorsHash, or reject it."'
  }
  emit('jobNeedsOperator', state, nil, '{' .. table.concat(needed, ',') .. '}')
end
return done(state)

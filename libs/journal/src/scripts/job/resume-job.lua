-- KEYS lane, job. Returns a transition.
--
-- Atomic: restoring the job's earlier state, and its place among the open jobs. If a crash came between, it would be
-- open but never looked at.
local state = field('state')
if not state then return refused('not_found') end
if FINAL[state] then return refused('wrong_state', state) end
if state ~= 'NEEDS_OPERATOR' then return unchanged(state) end
return done(unpark())

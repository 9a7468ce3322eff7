-- KEYS lane, job. Returns a transition.
--
-- Atomic: comparing the state, and asking for the attempt that follows the present ones. If another attempt came between,
-- one more would follow it.
read('state', 'step')
local state, step = field('state'), field('step')
if not state then return refused('not_found') end
if state ~= 'SIGNED' and state ~= 'BROADCAST' then return refused('wrong_state', state) end
-- A step that is no transaction has no attempts.
local count = attempt_count(step)
if count == 0 then return refused('wrong_state', state) end
put('hurried:' .. step, text(count))
return done(state)

-- KEYS lane, job; ARGV token, step, hash of the cancel, failure. Returns a transition.
--
-- Atomic: checking that no RPC server has accepted the cancel and why the job is cancelled, and letting it go on. If an
-- acceptance came between, the job would go on as if nothing competed for its nonce; if an operator's fill did, the job's
-- transaction would use the nonce that was filled. Should the cancel be mined after all, the job ends as it was
-- meant to: the failure of the cancel stays.
if is_past then return unchanged(state) end
if is_other then return refused('wrong_step', state) end
if state ~= 'SIGNED' and state ~= 'BROADCAST' then return refused('wrong_state', state) end
if not field('void:' .. step) then return unchanged(state) end
local is_wish = ending == 'CANCELLED' and not undoing and cjson.decode(field('endingFailure')).code ~= 'NONCE_FILLED'
if not is_wish then return refused('ending', state) end
local index = text(attempt_count(step) - 1)
local last = attempt_at(step, index)
if not last or last.hash ~= ARGV[3] or field('sent:' .. step .. ':' .. index) then
  return refused('lost_race', state)
end
drop('void:' .. step, 'endingState')
put('cancelRefused', ARGV[4])
set_state(state)
return done(state)

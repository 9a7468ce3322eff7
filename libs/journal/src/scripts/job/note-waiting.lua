-- KEYS lane, job; ARGV token, step, failure, or '' where the job waits for nothing any more, its code, for how many ms it
-- has waited already. Returns a transition.
--
-- Atomic: noting for what a job waits in its state, and the event. If the job moved in between, it would be reported as
-- waiting; if a crash came between, an event could be missing or written twice.
if is_past then return unchanged(state) end
if is_other then return refused('wrong_step', state) end
if state == 'NEEDS_OPERATOR' then return refused('wrong_state', state) end
if ARGV[3] == '' then
  drop('waiting')
  return done(state)
end
-- It is valid only in this state at this step, so that a job that moves need not delete it.
local place, code = state .. ' ' .. step, ARGV[4]
read('waiting', 'at', 'waited:' .. code)
local noted_place, since, noted = string.match(field('waiting') or '', '^(%S+ %d+) (%d+) (%S+)')
if noted_place ~= place or noted ~= code then
  since = text(math.max(now - tonumber(ARGV[5]), tonumber(field('at'))))
end
put('waiting', table.concat({place, since, code, ARGV[3]}, ' '))
if not field('waited:' .. code) then
  put('waited:' .. code, '1')
  emit('transactionWaiting', state, nil, ARGV[3])
end
return done(state)

-- KEYS lane, job; ARGV token, step, hash of the block that is deep enough, then, for the last step, the steps that
-- revoke what the job left behind. Returns a transition.
--
-- Atomic: checking which attempt was mined in which block, continuing or ending the job, and the events. If a
-- reorganisation came between, a job would end whose transaction is gone; if a crash came between, the end would never
-- be reported.
if is_past then return unchanged(state) end
if is_other then return refused('wrong_step', state) end
if state ~= 'MINED' then return refused('wrong_state', state) end
local mined = mined_at(step)
if mined.block ~= ARGV[3] then return refused('lost_race', state) end
set_flight(step, false)
emit('transactionConfirmed', 'MINED', mined.attempt.hash)
if mined.attempt.kind ~= 'cancel' then
  if #ARGV < 4 or undoing or tonumber(step) + 1 < steps then return done(advance(step)) end
  put('doneStep', step)
  return done(begin_undo(tonumber(step) + 1, 4, 'FINAL', '', '0'))
end

-- Every RPC server had refused the cancel, and the job went on.
if not ending then put('endingState', 'CANCELLED') end
local had_by, had_step, failure = string.match(field('fills') or '', '^(%S+) (%S+) (.*)$')
if had_by then
  -- The nonce had a transaction of a job that ended, and a reorganisation has removed it: it cannot take place any more.
  local ended = end_as_meant()
  save_job()
  open_job(key('job:' .. had_by))
  if field('state') == 'FINAL' then
    -- Where later steps did what the job is for, only they show what became of it.
    local told = (field('doneStep') or field('step')) == had_step and 'CANCELLED' or 'FINAL'
    emit('transactionFailed', told, nil, failure)
    put('failure', failure)
    set_state(told)
  end
  return done(ended)
end
if undoing or step == '0' then return done(end_as_meant()) end
-- Earlier steps may have left allowances behind: the worker revokes them before the job ends.
put('step', text(tonumber(step) + 1))
write_steps(tonumber(step) + 1, #ARGV + 1)
set_state('PLANNED')
return done('PLANNED')

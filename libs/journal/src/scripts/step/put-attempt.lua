-- KEYS lane, job; ARGV token, step, expected number of attempts, nonce, kind, hash, fees, signed bytes. Returns a
-- transition.
--
-- Atomic: comparing the number of attempts, and adding one. If another worker came between, bytes that are in no
-- journal would be sent, and after a crash they would never be looked for.
if is_other then return refused('wrong_step', state) end
if state ~= 'RESERVED' and state ~= 'SIGNED' and state ~= 'BROADCAST' then return refused('wrong_state', state) end
if field('nonce:' .. step) ~= ARGV[4] then return refused('wrong_nonce', state) end
local expected, kind, hash = tonumber(ARGV[3]), ARGV[5], ARGV[6]
local count, stored = attempt_count(step), attempt_at(step, ARGV[3])
if stored and stored.hash == hash then return unchanged(state) end
if count ~= expected then return refused('lost_race', state) end
if is_frozen() then return refused('lane_frozen', state) end
if field('void:' .. step) then
  if kind ~= 'cancel' then return refused('ending', state) end
elseif kind ~= (count == 0 and 'first' or 'replacement') then
  return refused('wrong_state', state)
end
local place = step .. ':' .. count
put('attempts:' .. step, text(count + 1), 'attempt:' .. place, table.concat({kind, hash, ARGV[7], text(now)}, ' '))
put('raw:' .. place, ARGV[8])
if state == 'RESERVED' then state = 'SIGNED' end
set_state(state)
return done(state)

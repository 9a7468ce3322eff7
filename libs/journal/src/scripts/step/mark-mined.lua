-- KEYS lane, job; ARGV token, step, transaction hash, block number, block hash. Returns a transition.
--
-- Atomic: checking that the hash is an attempt of this step, and noting its block. If a replacement came between, it
-- would be signed for a used nonce.
if is_other then return refused('wrong_step', state) end
if state ~= 'SIGNED' and state ~= 'BROADCAST' and state ~= 'MINED' then return refused('wrong_state', state) end
local attempt = find_attempt(step, ARGV[3])
if not attempt then return refused('wrong_state', state) end
local line = table.concat({attempt.index, ARGV[4], ARGV[5]}, ' ')
if field('mined:' .. step) == line then return unchanged(state) end
mark_sent(attempt)
put('mined:' .. step, line)
set_flight(step, field('nonce:' .. step), true)
set_state('MINED')
return done('MINED')

-- KEYS lane, job; ARGV token, step, hash of the block that is deep enough, type, facts. Returns a transition.
--
-- Atomic: reporting the transaction once, in the script that also ends its step. Otherwise a transaction that cost gas
-- could be booked twice or not at all.
if is_past then return unchanged(state) end
if is_other then return refused('wrong_step', state) end
if state ~= 'MINED' then return refused('wrong_state', state) end
if mined_at(step).block ~= ARGV[3] then return refused('lost_race', state) end
-- Reported already if the step was then parked, and is ended now.
if field('booked:' .. step) then return unchanged(state) end
-- First, since Redis keeps what a script wrote before it failed, as on a stream that takes no entry.
redis.call('XADD', key('book'), '*', 'v', '1', 'type', ARGV[4], 'at', text(now), 'payment', '', 'facts', ARGV[5])
redis.call('HSET', JOB, 'booked:' .. step, text(now))
return done(state)

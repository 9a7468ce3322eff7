-- KEYS lane, job; ARGV token, step, the signature's number, the step as it was signed, signature. Returns a transition.
--
-- Atomic: checking that the step is still the signed one and has no signature that may move money, and storing this one.
-- If a cancel came between, an ended job would pay; if another worker did, the job would pay twice.
if is_other then return refused('wrong_step', state) end
local number, bytes = signature_at(step)
if bytes == ARGV[5] then return unchanged(state) end
if state ~= 'PLANNED' or not cjson.decode(ARGV[4]).signs then return refused('wrong_state', state) end
if ending then return refused('ending', state) end
local is_next = tonumber(ARGV[3]) == number + 1 and bytes == '-'
if not is_next or field('step:' .. step) ~= ARGV[4] then return refused('lost_race', state) end
if is_frozen() then return refused('lane_frozen', state) end
if of_lane('paused') then return refused('lane_paused', state) end
put('signature:' .. step, table.concat({ARGV[3], text(now), ARGV[5]}, ' '))
set_state('SIGNED')
return done('SIGNED')

-- KEYS lane, job; ARGV the chain's nonce at its latest block, failure. Returns a transition.
--
-- Atomic: checking that the job's nonce is used, ending the job, and its event. If the job was resumed in between, it
-- would be given up with an unused nonce, and the lane would stop.
read('state', 'step')
local state = field('state')
if not state then return refused('not_found') end
if state == 'CANCELLED' then return unchanged(state) end
if state ~= 'NEEDS_OPERATOR' then return refused('wrong_state', state) end
local nonce = field('nonce:' .. field('step'))
if nonce and tonumber(nonce) >= tonumber(ARGV[1]) then return refused('nonce_unused', state) end
end_job('CANCELLED', ARGV[2], false)
return done('CANCELLED')

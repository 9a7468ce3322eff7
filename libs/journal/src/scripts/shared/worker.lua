-- Start of every transition that a worker makes: ARGV[1] the lease's token, ARGV[2] the step the worker believes to be
-- current.
local step = ARGV[2]
read('state', 'step', 'steps', 'endingState', 'undoing', 'operation', 'keyId', 'nonce:' .. step, 'void:' .. step,
  'attempts:' .. step, 'attempt:' .. step .. ':0', 'sent:' .. step .. ':0', 'mined:' .. step)
local state, at_step, steps = field('state'), field('step'), tonumber(field('steps') or '0')
local ending, undoing = field('endingState'), field('undoing')
if not state then return refused('not_found') end
if is_stale(ARGV[1]) then return refused('stale_token', state) end
local is_past = FINAL[state] or tonumber(at_step) > tonumber(step)
local is_other = at_step ~= step

-- Start of every transition that a worker makes: ARGV[1] the lease's token, ARGV[2] the step the worker believes to be
-- current.
local step = ARGV[2]
local job = redis.call('HMGET', JOB, 'state', 'step', 'steps', 'endingState', 'undoing')
local state, at_step, steps, ending, undoing = job[1], job[2], tonumber(job[3] or '0'), job[4], job[5]
if not state then return refused('not_found') end
if is_stale(ARGV[1]) then return refused('stale_token', state) end
local is_past = FINAL[state] or tonumber(at_step) > tonumber(step)
local is_other = at_step ~= step

-- KEYS lane, the job that fills; ARGV nonce, the job that had it, or `-`, the most fills of an hour, or '' where an operator
-- asks, operation, key id, body, step, how a job ends whose nonce is filled, facts for the audit, or ''. Returns
-- {now, `done` | `unchanged`, id of the job that uses the nonce} or a refusal.
--
-- Atomic: checking that no step in flight has the nonce and which job had it, counting the fill, and writing it with its
-- place in flight. If a job was resumed or another fill written in between, two transactions would have one nonce.
local nonce, had_by, most = ARGV[1], ARGV[2], ARGV[3]
local flying = flying_with(nonce)
if flying then
  local id, step = string.match(flying, '^(.+)/(%d+)$')
  if redis.call('HEXISTS', key('job:' .. id), 'void:' .. step) == 0 then return refused('no_gap') end
  return {text(now), 'unchanged', id}
end
local lane = redis.call('HMGET', LANE, 'gap', 'frozen', 'paused', 'ownFrom', 'filledTo', 'filledAt', 'book')
if lane[2] then return refused('lane_frozen') end
local gap, holder, at_step = string.match(lane[1] or '', '^(%d+) (%S+) (%S+)$')
if gap ~= nonce then return refused('no_gap') end
if holder ~= had_by then return refused('lost_race') end

-- A nonce below those that the lane gave out first never had a job, unless it was filled.
local first = tonumber(lane[5] or '0')
local is_unheld = holder == '-' and tonumber(nonce) >= first and tonumber(nonce) < tonumber(lane[4] or '0')
local recent = {}
for at in string.gmatch(lane[6] or '', '%d+') do
  if tonumber(at) > now - 3600000 then recent[#recent + 1] = at end
end
if most ~= '' then
  if not is_unheld then return refused('nonce_held') end
  if lane[3] then return refused('lane_paused') end
  if #recent >= tonumber(most) then return refused('too_often') end
  recent[#recent + 1] = text(now)
end
-- First, since Redis keeps what a script wrote before it failed.
if ARGV[9] ~= '' and lane[7] == 'on' then
  redis.call('XADD', key('book'), '*', 'v', '1', 'type', 'acted', 'at', text(now), 'payment', '', 'facts', ARGV[9])
end
if most ~= '' then redis.call('HSET', LANE, 'filledAt', table.concat(recent, ' ')) end
redis.call('HDEL', LANE, 'gap')
redis.call('HSET', LANE, 'filledTo', text(math.max(first, tonumber(nonce) + 1)))

local held = redis.call('HMGET', key('job:' .. holder), 'state', 'step')
if held[1] == 'NEEDS_OPERATOR' and held[2] == at_step then
  -- Its own step is cancelled, so that all its transactions are watched and whichever is mined decides how it ends.
  open_job(key('job:' .. holder))
  put('void:' .. at_step, '1')
  -- Its block has left the chain.
  drop('mined:' .. at_step, 'booked:' .. at_step)
  if field('parkedState') == 'MINED' then put('parkedState', 'BROADCAST') end
  -- Also in place of a wish to cancel it, which is dropped where all servers refuse the cancel: now it must use the nonce.
  if not field('endingState') or (field('endingState') == 'CANCELLED' and not field('undoing')) then
    set_ending('CANCELLED', ARGV[8], at_step == '0' and '1' or '0')
  end
  unpark()
  return {text(now), 'done', holder}
end
set_state('RESERVED')
put('step', '0', 'steps', '1', 'submittedAt', text(now), 'fingerprint', 'fill', 'operation', ARGV[4], 'keyId', ARGV[5],
  'body', ARGV[6], 'step:0', ARGV[7], 'nonce:0', nonce, 'void:0', '1', 'undoing', '1')
place_job()
set_ending('FINAL', '', '0')
if holder ~= '-' then put('fills', holder .. ' ' .. at_step .. ' ' .. ARGV[8]) end
set_flight('0', nonce)
return {text(now), 'done', ID}

-- KEYS: lane, then the jobs in use. CALLS, for each call: the transition's name, `+` where it is made only if the call
-- before succeeded, the index of its job (0: none), the number of arguments, and the arguments. Returns each
-- transition's reply, or {now, `skipped`}.
--
-- Atomic: each transition, and a call with the one that it continues. Several in one script cost one round trip.

-- A chain of calls stops at a plan that waits for an approval.
local function goes_on(reply)
  local went = reply[2] == 'done' or reply[2] == 'unchanged' or reply[2] == 'accepted'
  return went and reply[3] ~= 'AWAITING_APPROVAL'
end

local replies, at = {}, 1
while at <= #CALLS do
  local from, count = at + 4, tonumber(CALLS[at + 3])
  local reply = {text(now), 'skipped'}
  if CALLS[at + 1] ~= '+' then
    save_job()
    open_job(CALLS[at + 2] ~= '0' and KEYS[tonumber(CALLS[at + 2]) + 1] or nil)
  end
  if CALLS[at + 1] ~= '+' or goes_on(replies[#replies]) then
    ARGV = {unpack(CALLS, from, from + count - 1)}
    reply = transitions[CALLS[at]]()
    if CALLS[at + 2] == '0' then forget_lane() end
    if reply.err then return reply end
  end
  replies[#replies + 1] = reply
  at = from + count
end
save_job()
forget_ended()
return replies

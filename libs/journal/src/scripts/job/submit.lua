-- KEYS lane, job; ARGV hashed idempotency key, fingerprint, when the key was claimed ('': just now), most open jobs,
-- operation, key id, body, latest ms or '', what the submitter reports to the book: the most events in the outbox, `off`,
-- or '' if it does not say, 1 if the key was claimed for this very call, and 1 if the key id leaves room for others. Returns
-- {now, `accepted` | `known`, job id, state}, {now, `conflict` | `forgotten`} or a refusal.
--
-- Atomic: checking that the key has no job in this lane, and writing the job with its place among the open jobs. If
-- another request came between, one request would be carried out twice; a job outside the open set would never be
-- carried out.
local claimed_at = ARGV[3] ~= '' and ARGV[3] or text(now)
if not of_lane('nextNonce') then return refused('not_adopted') end
local known = redis.call('HGET', key('idempotency'), ARGV[1])
if known then
  local job = redis.call('HMGET', key('job:' .. known), 'fingerprint', 'state')
  if job[1] ~= ARGV[2] then return {text(now), 'conflict'} end
  return {text(now), 'known', known, job[2]}
end
-- A key as old as a deleted job's may belong to that job: only the chain shows whether it did anything. The clock of the
-- key's server may be behind that of a deleted job's, so a new key says that it is new.
if ARGV[3] ~= '' and ARGV[10] ~= '1' and tonumber(ARGV[3]) <= tonumber(of_lane('forgottenUntil') or '0') then return {text(now), 'forgotten'} end
-- After this time a caller may have been answered that the job does not exist, and may rely on it: refuse the job.
if ARGV[8] ~= '' and now > tonumber(ARGV[8]) then return refused('late') end
local open = redis.call('ZCARD', key('open'))
local free = tonumber(ARGV[4]) - open
if free <= 0 then return refused('lane_full') end
-- Jobs are counted only while the lane is nearly full, so that one key alone never takes its last tenth. Counting reads
-- every open job, so it is done once a second, of all keys together: until then a count may be a little too high or low.
local shares, is_counted = key('shares'), ARGV[11] == '1' and open >= 9 * free
if is_counted then
  local counted_at = tonumber(redis.call('HGET', shares, ':at') or '0')
  if counted_at > now or counted_at <= now - 1000 then
    local counts = {[':at'] = now}
    for _, id in ipairs(redis.call('ZRANGE', key('open'), 0, -1)) do
      local owner = redis.call('HGET', key('job:' .. id), 'keyId')
      if owner then counts[owner] = (counts[owner] or 0) + 1 end
    end
    redis.call('DEL', shares)
    for owner, count in pairs(counts) do redis.call('HSET', shares, owner, text(count)) end
  end
  if tonumber(redis.call('HGET', shares, ARGV[6]) or '0') >= 9 * free then return refused('lane_full') end
end
-- Only here: a job that was accepted is carried out, and its transactions are reported.
local book = ARGV[9]
if book ~= '' then
  local reported = of_lane('book')
  if reported and (reported == 'off') ~= (book == 'off') then return refused('settings_differ') end
  if book ~= 'off' and redis.call('XLEN', key('book')) >= tonumber(book) then return refused('outbox_full') end
end

set_state('PLANNED')
put('step', '0', 'steps', '0', 'submittedAt', text(now), 'idempotency', ARGV[1], 'fingerprint', ARGV[2], 'claimedAt',
  claimed_at, 'operation', ARGV[5], 'keyId', ARGV[6], 'body', ARGV[7])
later('HSET', key('idempotency'), ARGV[1], ID)
if is_counted then redis.call('HINCRBY', shares, ARGV[6], 1) end
place_job()
return {text(now), 'accepted', ID, 'PLANNED'}

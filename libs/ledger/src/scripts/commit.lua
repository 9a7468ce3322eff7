-- KEYS birth, entry, answer, answers (the byte budget), outbox; ARGV slot, generation, owner, answer or '', answer ttl
-- ms, budget bytes, receipt or '' (kept when the answer is not), payment, facts for the book or '', slack ms,
-- deadline or ''. Returns {now, `done` | `answered` | `stale` | `late` | `discontinued`}.
--
-- Atomic: checking that the lease is still this holder's, ending it, storing the answer within the budget, and
-- reporting it to the book. Otherwise a holder whose lease was taken over could answer too, a payment could be spent
-- without its answer or be missing in the book, or the budget could be exceeded.
local slot, generation, owner, payload = ARGV[1], tonumber(ARGV[2]), ARGV[3], ARGV[4]
local ttl, budget, facts, slack = tonumber(ARGV[5]), tonumber(ARGV[6]), ARGV[9], tonumber(ARGV[10])
local deadline = tonumber(ARGV[11])
local SLICE_MS, OVERHEAD = 300000, 200
local now = now_ms()
local birth = redis.call('HMGET', KEYS[1], 'run', 'epoch', 'booked', 'retention')
if birth[1] ~= server_run() then return {text(now), 'discontinued'} end

local fields = redis.call('HMGET', KEYS[2], slot, slot .. ':by')
local r = read_record(fields[1], fields[2])
-- After lost writes, generations begin anew: two holders can have the same one.
if not r or r.generation ~= generation or r.owner ~= owner then return {text(now), 'stale'} end
-- The same commit sent twice (its reply was lost) is one commit.
if r.state == 'D' then return {text(now), 'done'} end
if r.state == 'A' then return {text(now), 'answered'} end
-- After the deadline the gateway has given up this request: if it spent the payment now, the payer would get no answer.
if deadline and now > deadline then return {text(now), 'late'} end
if r.state ~= 'L' or r.epoch ~= tonumber(birth[2]) then return {text(now), 'stale'} end

-- Before anything is written: Redis keeps what a script wrote before it failed, as on a stream that takes no entry.
report(KEYS[5], 'answered', now, ARGV[8], facts)

-- Bytes are counted per time slice of their expiry, and freed when the slice has passed.
local function room_for(bytes, until_ms)
  local slice = math.floor(now / SLICE_MS)
  local counted = redis.call('HMGET', KEYS[4], 'total', 'swept')
  local total, swept = tonumber(counted[1] or '0'), tonumber(counted[2] or text(slice))
  for past = swept + 1, slice do
    local freed = redis.call('HGET', KEYS[4], text(past))
    if freed then
      total = total - tonumber(freed)
      redis.call('HDEL', KEYS[4], text(past))
    end
  end
  local fits = total + bytes <= budget
  local last = math.ceil(until_ms / SLICE_MS)
  if fits then
    total = total + bytes
    redis.call('HINCRBY', KEYS[4], text(last), text(bytes))
  end
  redis.call('HSET', KEYS[4], 'total', text(total), 'swept', text(slice))
  local gone = (last + 1) * SLICE_MS
  if redis.call('PEXPIRETIME', KEYS[4]) < gone then redis.call('PEXPIREAT', KEYS[4], text(gone)) end
  return fits
end

-- The claim set the expiry as for a payment mined by then. One that was mined later may be presented for longer.
if now - r.at > slack / 2 then
  redis.call('PEXPIREAT', KEYS[2], text(now + tonumber(birth[4]) + slack), 'GT')
end
-- The owner is kept: only its own commit may be repeated, and without a retry key its repeated question must not take
-- another payment.
r.state, r.at, r.til = 'D', now, 0
if #payload > 0 then
  -- Absolute times: Redis would count a timeout from a later millisecond, and the answer could outlive its entry.
  local until_ms, gone = now + ttl, redis.call('PEXPIRETIME', KEYS[2])
  if gone > 0 then until_ms = math.min(until_ms, gone) end
  if room_for(#payload + OVERHEAD, until_ms) then
    redis.call('SET', KEYS[3], payload, 'PXAT', text(until_ms))
    r.state = 'A'
  end
end
if r.state == 'D' and ARGV[7] ~= '' then redis.call('HSET', KEYS[2], slot .. ':receipt', ARGV[7]) end
write_state(KEYS[2], slot, r)
-- The first payment that is not reported ends the time for which the book is complete.
if facts == '' and birth[3] then
  redis.call('HDEL', KEYS[1], 'booked')
elseif facts ~= '' and not birth[3] then
  redis.call('HSET', KEYS[1], 'booked', text(now))
end
return {text(now), r.state == 'A' and 'answered' or 'done'}

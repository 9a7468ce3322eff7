-- KEYS birth, entry, answer, outbox; ARGV slot, 1 when an answered payment may be closed, payment, facts for the book
-- without the state it was in, or '', name of the refund, replicas that acknowledge it before anything leaves. Returns
-- {now, `closed`, state}, {now, `leased`, ms until the lease ends}, {now, `closed_before`, since when for this refund,
-- which refund closed it, each refund that was recorded as paid}, {now, `answered` | `other_form`} or
-- {now, `discontinued` | `durability_differs`}.
--
-- Atomic: checking that no request holds the payment and it bought nothing, and closing it for a refund. Otherwise a
-- request could take it in between, and the payer would have both the answer and the money.
local slot = ARGV[1]
local now = now_ms()
local birth = redis.call('HMGET', KEYS[1], 'run', 'epoch', 'replicas')
if birth[1] ~= server_run() then return {text(now), 'discontinued'} end
-- A successor could lack the mark while its birth says that it lacks nothing: the payment would be answered as well.
if tonumber(birth[3]) > tonumber(ARGV[6]) then return {text(now), 'durability_differs'} end
local records = read_entry(KEYS[2])
-- A transaction redeemed as a whole has spent its transfers, and vice versa: closing one form would leave the other.
if next(records) and (records['receipt'] ~= nil) ~= (slot == 'receipt') then return {text(now), 'other_form'} end

-- Since when it is closed for this refund too: a payment's second refund finds it closed.
local function note_refund()
  redis.call('HSETNX', KEYS[2], slot .. ':closed:' .. ARGV[5], text(now))
  return redis.call('HGET', KEYS[2], slot .. ':closed:' .. ARGV[5])
end

local r = records[slot]
local from = 'free'
if r then
  if r.state == 'F' then
    local answer = {text(now), 'closed_before', note_refund(), redis.call('HGET', KEYS[2], slot .. ':closer')}
    local prefix = slot .. ':refund:'
    -- Not HKEYS: the Redis user of the bookkeeper may read the entry by the commands of the other scripts only.
    local fields = redis.call('HGETALL', KEYS[2])
    for index = 1, #fields, 2 do
      local field = fields[index]
      if string.sub(field, 1, #prefix) == prefix then answer[#answer + 1] = string.sub(field, #prefix + 1) end
    end
    return answer
  end
  if r.state == 'L' and r.til >= now then return {text(now), 'leased', text(r.til - now)} end
  if (r.state == 'A' or r.state == 'D') and ARGV[2] ~= '1' then return {text(now), 'answered'} end
  from = r.state == 'R' and 'released' or r.state == 'L' and 'expired' or 'answered'
end
-- Before anything is written, as in `commit`.
report(KEYS[4], 'refunding', now, ARGV[3], ARGV[4] == '' and '' or '{"from":"' .. from .. '",' .. string.sub(ARGV[4], 2))
r = r or {generation = 0, releases = 0, reproductions = 0, fingerprint = '-', key = ''}
-- A new generation: the holder of an expired lease can no longer commit.
r.state, r.epoch, r.generation, r.at, r.til, r.owner = 'F', tonumber(birth[2]), r.generation + 1, now, 0, ''
write_record(KEYS[2], slot, r)
redis.call('HSET', KEYS[2], slot .. ':closer', ARGV[5])
note_refund()
-- A mark that expired would let a payment without an age rule buy something after its refund.
redis.call('PERSIST', KEYS[2])
redis.call('DEL', KEYS[3])
return {text(now), 'closed', from}

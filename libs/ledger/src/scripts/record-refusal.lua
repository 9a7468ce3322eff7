-- KEYS seen, stream, counts, outbox; ARGV payment and failure as one name, how many to keep, payment, facts for the book
-- without their count or '', then fields and values of the entry. Returns {now, `recorded` | `known`}.
--
-- Atomic: checking that this refusal is new, appending it, and reporting it to the book. Otherwise one payment could be
-- listed twice and refunded twice.
local now, keep, facts = now_ms(), tonumber(ARGV[2]), ARGV[4]

-- A client can repeat a refused payment without end: its event is written again only when the count has doubled.
if facts ~= '' then
  local count = redis.call('HINCRBY', KEYS[3], ARGV[1], 1)
  local doubled = 1
  while doubled < count do doubled = doubled * 2 end
  if doubled == count then
    report(KEYS[4], 'refused', now, ARGV[3], string.sub(facts, 1, -2) .. ',"count":' .. text(count) .. '}')
  end
end
if redis.call('ZADD', KEYS[1], 'NX', text(now), ARGV[1]) == 0 then return {text(now), 'known'} end
for _, dropped in ipairs(redis.call('ZRANGE', KEYS[1], 0, -(keep + 1))) do redis.call('HDEL', KEYS[3], dropped) end
redis.call('ZREMRANGEBYRANK', KEYS[1], 0, -(keep + 1))
redis.call('XADD', KEYS[2], 'MAXLEN', '=', text(keep), '*', unpack(ARGV, 5))
return {text(now), 'recorded'}

-- KEYS entry, outbox; ARGV slot, name of the refund, payment, facts for the book or '', 1 to report it again. Returns
-- {now, `recorded` | `known` | `open`}.
--
-- Atomic: checking that the payment is closed and this refund is new, and reporting it to the book. Otherwise one refund
-- could be booked twice.
local now = now_ms()
local r = read_record(redis.call('HGET', KEYS[1], ARGV[1]))
if not r or r.state ~= 'F' then return {text(now), 'open'} end
local known = redis.call('HGET', KEYS[1], ARGV[1] .. ':refund:' .. ARGV[2]) ~= false
if known and ARGV[5] ~= '1' then return {text(now), 'known'} end
-- Before anything is written, as in `commit`.
report(KEYS[2], 'refunded', now, ARGV[3], ARGV[4])
redis.call('HSETNX', KEYS[1], ARGV[1] .. ':refund:' .. ARGV[2], text(now))
return {text(now), known and 'known' or 'recorded'}

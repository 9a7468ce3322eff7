-- KEYS entry, outbox; ARGV slot, generation, owner, 1 when the release counts, 1 to forget the amount that this holder
-- fixed, for how many ms it pauses the payment, releases and pauses allowed, slack ms, payment, facts for the book or ''.
-- Returns {now, `released` | `stale`}.
--
-- Atomic: checking that the lease is still this holder's, releasing the payment, and reporting it to the book.
-- Otherwise, after a take-over, the new holder's payment could become free for a third request, or be reported as
-- released.
local now = now_ms()
local r = read_record(redis.call('HGET', KEYS[1], ARGV[1]))
if not r or r.generation ~= tonumber(ARGV[2]) or r.owner ~= ARGV[3] then return {text(now), 'stale'} end
-- The same release sent twice (its reply was lost) is one release.
if r.state == 'R' then return {text(now), 'released'} end
if r.state ~= 'L' then return {text(now), 'stale'} end
local releases, pause = r.releases + tonumber(ARGV[4]), tonumber(ARGV[6])
local pauses = pause > 0 and tonumber(redis.call('HGET', KEYS[1], ARGV[1] .. ':pauses') or '0') + 1 or 0
-- The next claim is refused.
local is_last = releases >= tonumber(ARGV[7]) or pauses >= tonumber(ARGV[8])
-- Before anything is written, as in `commit`.
report_release(KEYS[1], KEYS[2], ARGV[1], now, ARGV[10], ARGV[11], is_last)
-- The owner is kept: a second copy of its question, handled late, must not take the payment again.
r.state, r.at, r.til = 'R', now, 0
r.releases = releases
-- An amount fixed by an earlier holder may still be moved by another permit with this nonce.
local amount, fixer = ARGV[1] .. ':amount', ARGV[1] .. ':fixer'
if ARGV[5] == '1' and redis.call('HGET', KEYS[1], fixer) == ARGV[2] then redis.call('HDEL', KEYS[1], amount, fixer) end
if pause > 0 then
  redis.call('HSET', KEYS[1], ARGV[1] .. ':pauses', text(pauses))
  if not is_last then
    r.til = now + pause
    outlive(KEYS[1], r.til + tonumber(ARGV[9]))
  end
end
write_state(KEYS[1], ARGV[1], r)
return {text(now), 'released'}

-- KEYS entry; ARGV slot, generation, owner, lease ms, slack ms. Returns {now, `renewed` | `stale`, until}.
--
-- Atomic: checking that the lease is still this holder's and extending it. Otherwise, after a take-over, two holders
-- could both believe they have the lease.
local now = now_ms()
local r = read_record(redis.call('HGET', KEYS[1], ARGV[1]))
if not r or r.state ~= 'L' or r.generation ~= tonumber(ARGV[2]) or r.owner ~= ARGV[3] then
  return {text(now), 'stale', '0'}
end
r.til = math.max(r.til, now + tonumber(ARGV[4]))
write_state(KEYS[1], ARGV[1], r)
-- The entry outlives every lease on it.
local gone = r.til + tonumber(ARGV[5])
local expires = redis.call('PEXPIRETIME', KEYS[1])
if expires > 0 and expires < gone then redis.call('PEXPIREAT', KEYS[1], text(gone)) end
return {text(now), 'renewed', text(r.til)}

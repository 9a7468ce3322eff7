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
outlive(KEYS[1], r.til + tonumber(ARGV[5]))
return {text(now), 'renewed', text(r.til)}

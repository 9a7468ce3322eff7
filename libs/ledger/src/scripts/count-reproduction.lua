-- KEYS entry; ARGV slot, how many are allowed. Returns {now, `counted` | `exhausted`}.
--
-- Atomic: comparing with the limit and counting. Otherwise concurrent requests could get more repeats than allowed for
-- one payment.
local now = now_ms()
local r = read_record(redis.call('HGET', KEYS[1], ARGV[1]))
if not r or (r.state ~= 'D' and r.state ~= 'A') or r.reproductions >= tonumber(ARGV[2]) then
  return {text(now), 'exhausted'}
end
r.reproductions = r.reproductions + 1
write_state(KEYS[1], ARGV[1], r)
return {text(now), 'counted'}

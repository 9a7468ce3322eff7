-- KEYS entry; ARGV slot, 1 to count one or -1 to give one back, and how many are allowed. Returns {now, `counted` |
-- `exhausted`}.
--
-- Atomic: comparing with the limit and counting. Otherwise concurrent requests could get more repeats than allowed for
-- one payment.
local now, change = now_ms(), tonumber(ARGV[2])
local r = read_record(redis.call('HGET', KEYS[1], ARGV[1]))
local is_spent = r and (r.state == 'D' or r.state == 'A')
if not is_spent or (change > 0 and r.reproductions >= tonumber(ARGV[3])) then
  return {text(now), 'exhausted'}
end
r.reproductions = math.max(0, r.reproductions + change)
write_state(KEYS[1], ARGV[1], r)
return {text(now), 'counted'}

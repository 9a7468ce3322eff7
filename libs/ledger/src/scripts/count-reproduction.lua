-- KEYS entry; ARGV slot, 1 to count one or -1 to give one back, and how many are allowed, or for how many ms there is to
-- be none. Returns {now, `counted` | `exhausted`} or {now, `paused`, wait}.
--
-- Atomic: comparing with the limit and counting. Otherwise concurrent requests could get more repeats than allowed for
-- one payment.
local now, change, number = now_ms(), tonumber(ARGV[2]), tonumber(ARGV[3])
local r = read_record(redis.call('HGET', KEYS[1], ARGV[1]))
local is_spent = r and (r.state == 'D' or r.state == 'A')
if not is_spent or (change > 0 and r.reproductions >= number) then return {text(now), 'exhausted'} end
if change > 0 and r.til > now then return {text(now), 'paused', text(r.til - now)} end
if change < 0 and number > 0 then r.til = now + number end
r.reproductions = math.max(0, r.reproductions + change)
write_state(KEYS[1], ARGV[1], r)
return {text(now), 'counted'}

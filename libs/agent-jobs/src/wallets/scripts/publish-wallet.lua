-- KEYS[1] the accounts by wallet name; ARGV name, account. Returns {name, account} of what has the name or the account now.
--
-- Atomic: checking that neither has an entry, and adding one. If another worker came between, one account could get two
-- names, and with them two policies and two daily limits.
local known = redis.call('HGETALL', KEYS[1])
for index = 1, #known, 2 do
  if known[index] == ARGV[1] then return {ARGV[1], known[index + 1]} end
end
for index = 1, #known, 2 do
  if known[index + 1] == ARGV[2] then return {known[index], ARGV[2]} end
end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
return {ARGV[1], ARGV[2]}

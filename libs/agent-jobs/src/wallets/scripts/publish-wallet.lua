-- KEYS[1] the accounts by wallet name; ARGV name, account. Returns {name, account}: the account that the name has, another
-- name that the account has, or the entry itself.
--
-- Atomic: checking that neither is taken, and adding the entry. If another worker came between, one account could get two
-- names, and with them two policies and two daily limits.
local known = redis.call('HGETALL', KEYS[1])
local account, other
for index = 1, #known, 2 do
  if known[index] == ARGV[1] then
    account = known[index + 1]
  elseif known[index + 1] == ARGV[2] then
    other = known[index]
  end
end
if account and account ~= ARGV[2] then return {ARGV[1], account} end
if other then return {other, ARGV[2]} end
if not account then redis.call('HSET', KEYS[1], ARGV[1], ARGV[2]) end
return {ARGV[1], ARGV[2]}

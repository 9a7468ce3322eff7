-- KEYS: the identifier. ARGV: the payment, the generation of its lease, ms. Returns what the identifier named: nothing
-- (`anew`), this payment (`before`) or `another` payment. Reading and writing are atomic: otherwise two payments could
-- take one identifier.
local named = redis.call('GET', KEYS[1])
if named and string.match(named, '^[^,]*') ~= ARGV[1] then return 'another' end
redis.call('SET', KEYS[1], ARGV[1] .. ',' .. ARGV[2], 'PX', ARGV[3])
return named and 'before' or 'anew'

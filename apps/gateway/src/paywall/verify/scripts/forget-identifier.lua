-- KEYS: the identifier. ARGV: the payment, the generation of its lease. The check that no other lease has taken the
-- identifier and its deletion are atomic: otherwise this could delete an identifier that names another payment, or one
-- of a newer holder that is settling this payment.
if redis.call('GET', KEYS[1]) == ARGV[1] .. ',' .. ARGV[2] then return redis.call('DEL', KEYS[1]) end
return 0

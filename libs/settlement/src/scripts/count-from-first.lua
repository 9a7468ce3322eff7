-- KEYS the payer, ARGV ms. Atomic: a counter without an expiry would bar the payer for ever.
if redis.call('INCR', KEYS[1]) == 1 then redis.call('PEXPIRE', KEYS[1], ARGV[1]) end
return 1

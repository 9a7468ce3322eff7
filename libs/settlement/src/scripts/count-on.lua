-- KEYS a counter, ARGV ms from its last increment.
redis.call('INCR', KEYS[1])
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return 1

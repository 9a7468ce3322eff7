-- KEYS[1] the list of one client, ARGV[1] ms to live, ARGV[2..] replies. Push and expiry are one step, so that the list
-- of a dead client does not stay behind.
redis.call('RPUSH', KEYS[1], unpack(ARGV, 2))
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return 1

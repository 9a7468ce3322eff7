-- KEYS[1] record, ARGV[1] the job that the record must name.
if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end
return 1

-- KEYS[1] record, KEYS[2] the question's answer, ARGV[1] the job that the record must name, ARGV[2] the job it names
-- from now on, ARGV[3] ms to live. Nothing starts for a question that has an answer.
if redis.call('EXISTS', KEYS[2]) == 1 or redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
return 1

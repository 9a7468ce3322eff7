-- KEYS[1] record, KEYS[2] the answer, ARGV[1] the job that has ended or '', ARGV[2] the answer's text, ARGV[3] ms to
-- live. Atomic: otherwise a copy of the question could start another job between reading the record and writing the
-- answer.
if redis.call('EXISTS', KEYS[2]) == 1 then return false end
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] then return holder end
redis.call('SET', KEYS[2], ARGV[2], 'PX', ARGV[3])
return false

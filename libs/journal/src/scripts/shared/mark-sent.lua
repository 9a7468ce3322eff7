-- Start of the scripts that learn that an attempt was sent.

-- True for the first report only. A receipt also proves the sending, in case the answer to it was lost.
local function mark_sent(attempt)
  if redis.call('HSETNX', JOB, 'sent:' .. step .. ':' .. attempt.index, text(now)) == 0 then return false end
  emit('transactionSubmitted', 'BROADCAST', attempt.hash)
  return true
end

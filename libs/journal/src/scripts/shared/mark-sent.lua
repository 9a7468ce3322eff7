-- Start of the scripts that learn that an attempt was sent.

-- True for the first report only. A receipt also proves the sending, in case the answer to it was lost.
local function mark_sent(attempt)
  local sent = 'sent:' .. step .. ':' .. attempt.index
  if field(sent) then return false end
  put(sent, text(now))
  emit('transactionSubmitted', 'BROADCAST', attempt.hash)
  return true
end

-- Start of the scripts that report to the book: appends an event to its outbox, in the form of libs/book-events. Without
-- facts nothing is reported.
local function report(outbox, kind, at, payment, facts)
  if facts == '' then return end
  redis.call('XADD', outbox, '*', 'v', '1', 'type', kind, 'at', text(at), 'payment', payment, 'facts', facts)
end

-- The first and the last of a payment, after which it is refused: a client can have it released any number of times.
local function report_release(entry, outbox, slot, at, payment, facts, is_last)
  if facts == '' or (not is_last and redis.call('HGET', entry, slot .. ':told')) then return end
  report(outbox, 'released', at, payment, facts)
  redis.call('HSET', entry, slot .. ':told', '1')
end

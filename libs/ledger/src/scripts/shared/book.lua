-- Start of the scripts that report to the book: appends an event to its outbox, in the form of libs/book-events. Without
-- facts nothing is reported.
local function report(outbox, kind, at, payment, facts)
  if facts == '' then return end
  redis.call('XADD', outbox, '*', 'v', '1', 'type', kind, 'at', text(at), 'payment', payment, 'facts', facts)
end

-- Once per payment: a client can have its payment released without end, and the book needs to know only that it was.
local function report_release(entry, outbox, slot, at, payment, facts)
  if facts == '' or redis.call('HSETNX', entry, slot .. ':told', '1') == 0 then return end
  report(outbox, 'released', at, payment, facts)
end

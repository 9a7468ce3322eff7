-- KEYS entry, outbox; ARGV owner, the entry's name, facts for the book or ''. Returns {now, `released` | `none`}.
--
-- Atomic: finding what this owner holds, releasing it, and reporting it to the book. Otherwise, after a commit or a
-- take-over, a spent payment or one of another holder could be released.
local now, outcome = now_ms(), 'none'
for slot, r in pairs(read_entry(KEYS[1])) do
  if r.state == 'L' and r.owner == ARGV[1] then
    report_release(KEYS[1], KEYS[2], slot, now, ARGV[2] .. ':' .. slot, ARGV[3])
    r.state, r.at, r.til = 'R', now, 0
    write_state(KEYS[1], slot, r)
    outcome = 'released'
  end
end
return {text(now), outcome}

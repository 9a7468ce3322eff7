-- KEYS birth, entry, outbox; ARGV owner, fingerprint, retry key or '', lease ms, deadline ms, clock skew ms, slack ms,
-- releases and pauses allowed, `all` or `known` (only the rules for known payments), the most events in the outbox or '', 0
-- when the retry key reserves nothing, then per candidate: slot, block, mined at ms, window ms or ''. Returns {now,
-- outcome, slot, generation or wait, until}.
--
-- Atomic: checking every payment of the transaction and taking one, together with the age and birth rules on Redis's
-- clock. Otherwise two requests could take one payment, one request with one retry key could take two, or a payment
-- lost with an earlier run of the server could be taken again.
local owner, fingerprint, key = ARGV[1], ARGV[2], ARGV[3]
local lease_ms, deadline, skew = tonumber(ARGV[4]), tonumber(ARGV[5]), tonumber(ARGV[6])
local slack, max_releases, max_pauses, scope = tonumber(ARGV[7]), tonumber(ARGV[8]), tonumber(ARGV[9]), ARGV[10]
local outbox_limit, reserves = tonumber(ARGV[11]), ARGV[12] ~= '0'
local now = now_ms()
local function answer(outcome, slot, number, til)
  return {text(now), outcome, slot or '', text(number or 0), text(til or 0)}
end
if now > deadline then return answer('late') end

local candidates, window = {}, 0
for index = 13, #ARGV, 4 do
  local candidate = {
    slot = ARGV[index], block = tonumber(ARGV[index + 1]), mined = tonumber(ARGV[index + 2]),
    window = tonumber(ARGV[index + 3])
  }
  candidates[#candidates + 1] = candidate
  window = math.max(window, candidate.window or 0)
end

-- Since when this bucket's data is complete; unknown without a birth record of this run.
local birth = redis.call('HMGET', KEYS[1], 'run', 'epoch', 'at', 'block', 'exact', 'retention', 'replicas', 'seen')
local run, info = server_run()
if birth[1] ~= run then return answer('discontinued') end
local acknowledged = tonumber(birth[7])
-- A replica that need not acknowledge may be promoted without what is answered from now on.
if acknowledged > 0 and count_replicas(info) > acknowledged then redis.call('HSET', KEYS[1], 'replicas', '0') end
local epoch, born_at, born_block = tonumber(birth[2]), tonumber(birth[3]), tonumber(birth[4])
-- The clock was ahead and is not any more: see the guard.
if math.max(born_at, tonumber(birth[8])) > now + skew then return answer('discontinued') end
local retention = tonumber(birth[6])
if window > retention then
  -- A longer window than any before: entries kept for the shorter ones may have expired.
  if retention > 0 then born_at = math.max(born_at, now - retention) end
  retention = window
  redis.call('HSET', KEYS[1], 'at', text(born_at), 'retention', text(retention))
end
-- A birth without a block is only a time, and the chain's clock may run ahead of Redis's.
local trusted_from = math.floor((born_at + (birth[5] == '1' and 0 or skew)) / 1000)

local records = read_entry(KEYS[2])
local known = next(records) ~= nil

-- A transaction redeemed as a whole has spent its transfers, and vice versa.
if known and (records['receipt'] ~= nil) ~= (candidates[1].slot == 'receipt') then
  local like = candidates[1]
  candidates = {}
  for slot in pairs(records) do
    if (slot == 'receipt') == (records['receipt'] ~= nil) then
      candidates[#candidates + 1] = {slot = slot, block = like.block, mined = like.mined, window = like.window}
    end
  end
end

-- For a refund, in whatever epoch: it buys nothing any more.
local function is_closed(r) return r.state == 'F' end
local function is_live(r) return r.state == 'L' and r.til >= now end
local function is_older(candidate)
  return candidate.window
    and (candidate.block <= born_block or math.floor(candidate.mined / 1000) < trusted_from)
end
-- An unfinished record of an earlier epoch may have been finished in the lost writes, if the payment existed by then.
local function is_doubtful(r, candidate) return not is_done(r) and r.epoch ~= epoch and is_older(candidate) end

-- An amount fixed for one request may still be moved, so it must not pay for another request.
local function is_fixed_for_another(r) return r.amount and r.fingerprint ~= fingerprint end

-- Only requests with its retry key may take it again.
local function is_reserved(r) return r.key ~= '' and r.open ~= text(r.generation) end

local function is_used_up(r) return r.releases >= max_releases or tonumber(r.pauses or '0') >= max_pauses end
-- Its upstream has asked to be left alone for now.
local function is_paused(r) return r.til > now end

local function take(candidate, old)
  local record = {
    state = 'L', epoch = epoch, generation = (old and old.generation or 0) + 1, releases = old and old.releases or 0,
    reproductions = 0, at = now, til = now + lease_ms, owner = owner, fingerprint = fingerprint, key = key
  }
  local permanent = known and redis.call('PTTL', KEYS[2]) == -1
  write_record(KEYS[2], candidate.slot, record)
  -- Only for this generation: the next claim may be by a key that reserves it.
  if not reserves then redis.call('HSET', KEYS[2], candidate.slot .. ':open', text(record.generation)) end
  if not candidate.window then
    redis.call('PERSIST', KEYS[2])
  elseif not permanent then
    redis.call('PEXPIREAT', KEYS[2], text(math.max(now, candidate.mined) + retention + slack))
  end
  return answer('claimed', candidate.slot, record.generation, record.til)
end

-- The owner asks again after its request has ended: a second copy of the question, whose verdict is not needed. By a retry key
-- it finds its answer below.
for _, r in pairs(records) do
  if r.owner == owner and r.state ~= 'L' and not (is_done(r) and r.key ~= '') then return answer('late') end
end

-- The owner asks again (the question was repeated) and gets the same answer.
for _, candidate in ipairs(candidates) do
  local r = records[candidate.slot]
  if r and r.owner == owner and is_live(r) and not is_doubtful(r, candidate) then
    return answer('claimed', candidate.slot, r.generation, r.til)
  end
end

-- A known retry key means this very payment, whatever state it is in.
if key ~= '' then
  for _, candidate in ipairs(candidates) do
    local r = records[candidate.slot]
    if r and r.key == key then
      local same = r.fingerprint == fingerprint
      if is_closed(r) then return answer('payment_refunded', candidate.slot) end
      if is_done(r) then return answer(same and 'answered' or 'conflict', candidate.slot) end
      if is_doubtful(r, candidate) then return answer('older_than_ledger', candidate.slot) end
      if is_live(r) then return answer(same and 'busy' or 'conflict', candidate.slot, r.til - now) end
      if r.state == 'R' then
        if is_fixed_for_another(r) then return answer('conflict', candidate.slot) end
        if is_used_up(r) then return answer('released_too_often', candidate.slot) end
        if is_paused(r) then return answer('paused', candidate.slot, r.til - now) end
        return take(candidate, r)
      end
      if not same then return answer('conflict', candidate.slot) end
      return take(candidate, r)
    end
  end
  -- A payment that was accepted once keeps its answer even if it no longer fits the terms.
  for slot, r in pairs(records) do
    if r.key == key and is_closed(r) then return answer('payment_refunded', slot) end
    if r.key == key and (is_done(r) or is_live(r)) then
      if r.fingerprint ~= fingerprint then return answer('conflict', slot) end
      return answer(is_done(r) and 'answered' or 'busy', slot, r.til - now)
    end
  end
end
if scope == 'known' then return answer('none') end

-- Otherwise the first payment that belongs to no other request.
local wait, pause, failure, failed_slot, reserved, same_request
for _, candidate in ipairs(candidates) do
  local r = records[candidate.slot]
  local reason
  if not r then
    if candidate.window and candidate.mined + candidate.window < now then
      reason = 'payment_too_old'
    elseif is_older(candidate) then
      reason = 'older_than_ledger'
    elseif outbox_limit and redis.call('XLEN', KEYS[3]) >= outbox_limit then
      -- Only here: a payment that is known is answered, so that what was claimed ends in the book.
      return answer('outbox_full')
    else
      return take(candidate, nil)
    end
  else
    if r.fingerprint == fingerprint then same_request = true end
    if is_closed(r) then
      reason = 'payment_refunded'
    elseif is_live(r) and not is_doubtful(r, candidate) then
      wait = math.min(wait or r.til - now, r.til - now)
    elseif not is_done(r) then
      if is_reserved(r) then
        reserved = true
      elseif is_doubtful(r, candidate) then
        reason = 'older_than_ledger'
      elseif r.state == 'R' and not is_fixed_for_another(r) then
        if is_used_up(r) then
          reason = 'released_too_often'
        elseif not is_paused(r) then
          return take(candidate, r)
        elseif r.fingerprint == fingerprint then
          -- Another payment of the transaction would only be sent to the same busy upstream.
          return answer('paused', candidate.slot, r.til - now)
        else
          pause = math.min(pause or r.til - now, r.til - now)
        end
      elseif r.fingerprint == fingerprint then
        return take(candidate, r)
      end
    end
  end
  if reason and not failure then failure, failed_slot = reason, candidate.slot end
end
if wait then return answer('busy', '', wait) end
if pause then return answer('paused', '', pause) end
if failure then return answer(failure, failed_slot) end
if reserved or same_request then return answer('used') end
return answer('conflict')

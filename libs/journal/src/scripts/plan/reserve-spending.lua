-- KEYS lane, job; ARGV token, step, then asset, amount, limit or '' for each asset. Returns a transition, or a refusal
-- with the asset and its remaining amount.
--
-- Atomic: comparing every asset's total with its limit, and counting all of them. If another job came between, a wallet
-- would exceed its daily limit.
if is_other then return refused('wrong_step', state) end
local is_unsigned = state == 'RESERVED' and attempt_count(step) == 0
if state ~= 'PLANNED' and state ~= 'AWAITING_APPROVAL' and not is_unsigned then return refused('wrong_state', state) end

local day = text(math.floor(now / 86400000))
local counter = key('spent:' .. day)
local counted_day, counted = string.match(field('spending') or '', '^(%d+) (.*)$')
local mine = {}
if counted_day == day then
  for asset, amount in string.gmatch(counted, '([^ =]+)=(%d+)') do mine[asset] = amount end
end
local totals, line = {}, {day}
for index = 3, #ARGV, 3 do
  local asset, amount, limit = ARGV[index], ARGV[index + 1], ARGV[index + 2]
  local others = subtract(redis.call('HGET', counter, asset) or '0', mine[asset] or '0')
  local total = add(others, amount)
  if limit ~= '' and is_less(limit, total) then
    return refused('over_limit', state, asset, subtract(limit, others))
  end
  totals[#totals + 1] = {asset, total}
  line[#line + 1] = asset .. '=' .. amount
end
give_back()
for _, entry in ipairs(totals) do later('HSET', counter, entry[1], entry[2]) end
later('PEXPIRE', counter, 3 * 86400000)
put('spending', table.concat(line, ' '))
return done(state)

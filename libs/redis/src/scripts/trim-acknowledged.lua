-- KEYS stream; ARGV consumer group. Returns how many entries are left.
--
-- Atomic: reading the group's position and trimming up to it. An entry that was delivered and not acknowledged stays,
-- with all after it; without the group nothing is trimmed.
local function named(flat)
  local fields = {}
  for index = 1, #flat, 2 do fields[flat[index]] = flat[index + 1] end
  return fields
end

if redis.call('EXISTS', KEYS[1]) == 0 then return 0 end
for _, flat in ipairs(redis.call('XINFO', 'GROUPS', KEYS[1])) do
  local group = named(flat)
  if group.name == ARGV[1] then
    local oldest = redis.call('XPENDING', KEYS[1], ARGV[1])[2]
    if not oldest then
      local ms, sequence = string.match(group['last-delivered-id'], '^(%d+)-(%d+)$')
      oldest = ms .. '-' .. string.format('%.0f', tonumber(sequence) + 1)
    end
    redis.call('XTRIM', KEYS[1], 'MINID', '=', oldest)
  end
end
return redis.call('XLEN', KEYS[1])

-- KEYS stream; ARGV consumer group. Returns how many entries are left.
--
-- Atomic: reading the group's position and trimming up to it. An entry that was delivered and not acknowledged stays,
-- with all after it; without the group nothing is trimmed.
local DAY_SECONDS = 86400

local function named(flat)
  local fields = {}
  for index = 1, #flat, 2 do fields[flat[index]] = flat[index + 1] end
  return fields
end

-- An entry with an id in the future makes all later ids follow it, up to the last id that there is: then none is taken any
-- more. Once the group has them all, the stream begins anew, at the present.
local function is_in_future(id)
  return tonumber(string.match(id, '^%d+')) / 1000 > tonumber(redis.call('TIME')[1]) + DAY_SECONDS
end

if redis.call('TYPE', KEYS[1]).ok ~= 'stream' then return 0 end
local last = named(redis.call('XINFO', 'STREAM', KEYS[1]))['last-generated-id']
for _, flat in ipairs(redis.call('XINFO', 'GROUPS', KEYS[1])) do
  local group = named(flat)
  if group.name == ARGV[1] then
    local oldest = redis.call('XPENDING', KEYS[1], ARGV[1])[2]
    local delivered = group['last-delivered-id']
    if not oldest and delivered == last and is_in_future(last) then
      redis.call('DEL', KEYS[1])
      redis.call('XGROUP', 'CREATE', KEYS[1], ARGV[1], '0', 'MKSTREAM')
      return 0
    end
    if not oldest then
      local ms, sequence = string.match(delivered, '^(%d+)-(%d+)$')
      -- Numbers of Lua are exact up to 15 digits: after a longer one, the last entry stays.
      oldest = #sequence > 15 and delivered or ms .. '-' .. string.format('%.0f', tonumber(sequence) + 1)
    end
    redis.call('XTRIM', KEYS[1], 'MINID', '=', oldest)
  end
end
return redis.call('XLEN', KEYS[1])

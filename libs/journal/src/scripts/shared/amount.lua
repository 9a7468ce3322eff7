-- Amounts are decimal text without leading zeros, because a token's base units exceed the integers that a Lua number
-- holds exactly.
local function is_less(a, b)
  if #a ~= #b then return #a < #b end
  return a < b
end

local function digit_at(amount, place)
  return place < #amount and string.byte(amount, #amount - place) - 48 or 0
end

local function combine(a, b, sign)
  local digits, carry = {}, 0
  for place = 0, math.max(#a, #b) do
    local sum = digit_at(a, place) + sign * digit_at(b, place) + carry
    carry = math.floor(sum / 10)
    digits[#digits + 1] = sum - carry * 10
  end
  local result = string.gsub(string.reverse(table.concat(digits)), '^0+', '')
  return result == '' and '0' or result
end

local function add(a, b) return combine(a, b, 1) end
-- Never below zero: a counter that was started anew may be smaller than the amount given back.
local function subtract(a, b) return is_less(a, b) and '0' or combine(a, b, -1) end

-- ARGV the budget. Returns the gas that was used up, and the gas that is held.
return {count_gas(ARGV[1])}

-- Returns the gas that was burnt, and the gas that is held.
return {count_gas()}

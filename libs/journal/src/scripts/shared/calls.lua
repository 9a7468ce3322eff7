-- Start of the lane's script: the calls to make, and the transitions by name. Each transition gets an ARGV of its own.
local CALLS, ARGV, transitions = ARGV, nil, {}

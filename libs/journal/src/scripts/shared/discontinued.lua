-- Taking and renewing a lease compares the server's run, so that a restart is noticed even if nothing is sent. Missing
-- scripts do not reveal it reliably: another fleet on the same server may have loaded them again.
local run = redis.call('HGET', LANE, 'run')
if run and run ~= server_run() then return {text(now), 'discontinued'} end

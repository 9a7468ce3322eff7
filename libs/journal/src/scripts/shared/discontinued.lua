-- Compares the server's run with the lane's, for what must not go on after a restart or failover that was not noticed.
-- Taking and renewing a lease does, so that it is noticed even if nothing is sent. Missing scripts do not reveal it
-- reliably: another fleet on the same server may have loaded them again.
if of_lane('run') and of_lane('run') ~= server_run() then return {text(now), 'discontinued'} end

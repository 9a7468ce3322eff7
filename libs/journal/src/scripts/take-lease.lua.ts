// Taking and renewing a lease compares the server's run, so that a restart is noticed even if nothing is sent. Missing
// scripts do not reveal it reliably: another fleet on the same server may have loaded them again.
const DISCONTINUED_LUA = /* lua */ `
local run = redis.call('HGET', LANE, 'run')
if run and run ~= server_run() then return {text(now), 'discontinued'} end
`;

/**
 * KEYS lane; ARGV owner, lease ms. Returns {now, `done`, token, until}, {now, `taken`} or {now, `discontinued`}.
 *
 * Atomic: checking that the lease is free or expired, and taking it under a higher token. If another worker came
 * between, both would have the same token, and the journal could not tell the late one from the current one.
 */
export const TAKE_LEASE_LUA = /* lua */ `${DISCONTINUED_LUA}
local lease = redis.call('HMGET', LANE, 'leaseOwner', 'leaseToken', 'leaseUntil')
local is_live = lease[1] and tonumber(lease[3]) > now
if is_live and lease[1] ~= ARGV[1] then return {text(now), 'taken'} end
local token = is_live and lease[2] or text(tonumber(lease[2] or '0') + 1)
local until_ms = text(now + tonumber(ARGV[2]))
redis.call('HSET', LANE, 'leaseOwner', ARGV[1], 'leaseToken', token, 'leaseUntil', until_ms)
return {text(now), 'done', token, until_ms}
`;

/**
 * KEYS lane; ARGV owner, token, lease ms. Returns {now, `done`, token, until}, {now, `taken`} or {now, `discontinued`}.
 *
 * Atomic: checking that the lease is still this holder's, and extending it. If another worker took it in between, that
 * worker would lose it again.
 */
export const RENEW_LEASE_LUA = /* lua */ `${DISCONTINUED_LUA}
local lease = redis.call('HMGET', LANE, 'leaseOwner', 'leaseToken')
if lease[1] ~= ARGV[1] or lease[2] ~= ARGV[2] then return {text(now), 'taken'} end
local until_ms = text(now + tonumber(ARGV[3]))
redis.call('HSET', LANE, 'leaseUntil', until_ms)
return {text(now), 'done', ARGV[2], until_ms}
`;

/**
 * KEYS lane; ARGV owner, token. Returns {now, `done` | `taken`}. The token stays: the next holder's is higher.
 *
 * Atomic: checking that the lease is still this holder's, and ending it. If another worker took it in between, that
 * worker's lease would end.
 */
export const RELEASE_LEASE_LUA = /* lua */ `
local lease = redis.call('HMGET', LANE, 'leaseOwner', 'leaseToken')
if lease[1] ~= ARGV[1] or lease[2] ~= ARGV[2] then return {text(now), 'taken'} end
redis.call('HDEL', LANE, 'leaseOwner', 'leaseUntil')
return {text(now), 'done'}
`;

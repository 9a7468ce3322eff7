// Whoever holds or takes a lane is the first to see that its server has restarted, also where nothing is to be sent: another
// fleet on the same server may have loaded the scripts, and their absence tells it no more.
const DISCONTINUED_LUA = /* lua */ `
local run = redis.call('HGET', LANE, 'run')
if run and run ~= server_run() then return {text(now), 'discontinued'} end
`;

/**
 * KEYS lane; ARGV owner, lease ms. Answers {now, `done`, token, until}, {now, `taken`} or {now, `discontinued`}.
 *
 * Atomic: seeing that the lease is free or over, and taking it under a higher token. If another came between, two workers
 * would have one token, and the one that was thought dead could not be told from the other.
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
 * KEYS lane; ARGV owner, token, lease ms. Answers {now, `done`, token, until}, {now, `taken`} or {now, `discontinued`}.
 *
 * Atomic: seeing that the lease is still this holder's, and lengthening it. If another took it in between, it would be
 * taken back from him.
 */
export const RENEW_LEASE_LUA = /* lua */ `${DISCONTINUED_LUA}
local lease = redis.call('HMGET', LANE, 'leaseOwner', 'leaseToken')
if lease[1] ~= ARGV[1] or lease[2] ~= ARGV[2] then return {text(now), 'taken'} end
local until_ms = text(now + tonumber(ARGV[3]))
redis.call('HSET', LANE, 'leaseUntil', until_ms)
return {text(now), 'done', ARGV[2], until_ms}
`;

/**
 * KEYS lane; ARGV owner, token. Answers {now, `done` | `taken`}. The token stays: the next holder's is higher.
 *
 * Atomic: seeing that the lease is still this holder's, and ending it. If another took it in between, his would end.
 */
export const RELEASE_LEASE_LUA = /* lua */ `
local lease = redis.call('HMGET', LANE, 'leaseOwner', 'leaseToken')
if lease[1] ~= ARGV[1] or lease[2] ~= ARGV[2] then return {text(now), 'taken'} end
redis.call('HDEL', LANE, 'leaseOwner', 'leaseUntil')
return {text(now), 'done'}
`;

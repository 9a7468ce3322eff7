import { LuaScript } from '@tollgate/redis';

/**
 * Atomic: counting the key's targets and adding one, so that the limit holds; and adding the key to the sets that list
 * the targets. KEYS[1] the key's targets; ARGV id, target, most targets, key, '1' for all jobs. Returns 1 when added.
 */
export const ADD_TARGET = new LuaScript(/* lua */ `
if redis.call('HLEN', KEYS[1]) >= tonumber(ARGV[3]) then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
redis.call('SADD', 'tollgate:{webhooks}:keys', ARGV[4])
if ARGV[5] == '1' then redis.call('SADD', 'tollgate:{webhooks}:operators', ARGV[4]) end
return 1
`);

/**
 * Atomic: enabling or disabling must not restore a target that is removed meanwhile. KEYS[1] the key's targets; ARGV
 * id, target. Returns 1 when it still exists.
 */
export const CHANGE_TARGET = new LuaScript(/* lua */ `
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
return 1
`);

/**
 * Atomic: removing a key's last target and the key itself from the sets, to which another registration may be adding
 * it. KEYS[1] the key's targets; ARGV id, key. Returns 1 when the target existed.
 */
export const REMOVE_TARGET = new LuaScript(/* lua */ `
local removed = redis.call('HDEL', KEYS[1], ARGV[1])
if redis.call('HLEN', KEYS[1]) == 0 then
  redis.call('SREM', 'tollgate:{webhooks}:keys', ARGV[2])
  redis.call('SREM', 'tollgate:{webhooks}:operators', ARGV[2])
end
return removed
`);

import { LuaScript } from '../redis/lua-script.js';

/**
 * KEYS[1] list of one client, ARGV[1] milliseconds it lives, ARGV[2..] replies. Expiry in the same step as the push:
 * the list of a client that has died must not stay behind.
 */
export const PUSH_REPLIES = new LuaScript(/* lua */ `
redis.call('RPUSH', KEYS[1], unpack(ARGV, 2))
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return 1
`);

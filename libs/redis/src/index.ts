export { closeWithin } from './close-within.js';
export { connectRedis, createRedis, duplicateRedis, type RedisClient } from './connect-redis.js';
export { LuaScript } from './lua-script.js';
export { RedisClock } from './redis-clock.js';
export { findRedisUrlProblems } from './redis-url.js';
export { ScriptRunner, type ScriptArgument } from './script-runner.js';
export { checkServers, listPrimaries, loadScripts } from './servers.js';
export { StoreError, StoreUnavailableError } from './store-error.js';
export { withTimeout } from './with-timeout.js';

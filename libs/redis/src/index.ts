export { AcknowledgedCommands, DURABILITY_BOUNDS, type Durability } from './acknowledged-commands.js';
export { closeWithin } from './with-timeout.js';
export {
  connectRedis,
  createRedis,
  duplicateRedis,
  findNodeTrouble,
  SOCKET_TIMEOUT_MS,
  type RedisClient,
} from './connect-redis.js';
export { explainRedisRefusal, explainRedisRefusals } from './explain-redis-refusal.js';
export { LuaScript } from './lua-script.js';
export { RedisClock } from './redis-clock.js';
export { findRedisUrlProblems } from './redis-url.js';
export { ScriptRunner, type ScriptArgument } from './script-runner.js';
export { checkServers, listPrimaries, loadScripts, RESTORE_MARKER } from './servers.js';
export { StoreError, StoreUnavailableError } from './store-error.js';
export { trimAcknowledged } from './trim-acknowledged.js';
export { withTimeout } from './with-timeout.js';

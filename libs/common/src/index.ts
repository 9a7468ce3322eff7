export { ConfigurationError } from './config/configuration-error.js';
export { LogEnvironment, LOG_FORMATS, LOG_LEVELS } from './config/log.environment.js';
export { PaymentEnvironment, PAYMENT_POLICIES, type PaymentPolicy } from './config/payment.environment.js';
export { listSettings, readEnvironment, type ChecksTogether } from './config/read-environment.js';
export { RedisEnvironment } from './config/redis.environment.js';
export {
  Setting,
  SettingGroup,
  type EnvironmentClass,
  type SettingDescription,
  type SettingOptions,
} from './config/setting.js';
export { currentRequestId, withRequestId } from './logging/request-id.js';
export { VERIFY_PAYMENT, type VerifyPaymentRequest, type VerifyPaymentVerdict } from './messages/verify-payment.js';
export { connectRedis, type RedisConnection } from './redis/connect-redis.js';
export { RedisClock } from './redis/redis-clock.js';
export {
  RequestReplyClient,
  type AskOptions,
  type RequestReplyClientOptions,
} from './request-reply/request-reply-client.js';
export { RequestReplyContext } from './request-reply/request-reply-context.js';
export { NoReplyError, QueueFullError, RequestFailedError } from './request-reply/request-reply-error.js';
export { RequestReplyServer, type RequestReplyServerOptions } from './request-reply/request-reply-server.js';

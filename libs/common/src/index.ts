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

export { API_KEY_SCOPES, mayUseWallet, needsNoWallet, type ApiKey, type ApiKeyScope } from './api-keys/api-key.js';
export { KeyAdmission, type Demand } from './api-keys/key-admission.js';
export { ApiKeyStore, type NewApiKey } from './api-keys/api-key-store.js';
export { AcceptanceEnvironment } from './config/acceptance.environment.js';
export { AgentEnvironment, TargetEnvironment } from './config/agent.environment.js';
export { ExplorerEnvironment } from './config/explorer.environment.js';
export { ConfigurationError } from './config/configuration-error.js';
export { listSecrets } from './config/list-secrets.js';
export { openWhenUp } from './config/open-when-up.js';
export { CryptoEnvironment, LogEnvironment, ShutdownEnvironment } from './config/process.environment.js';
export { PaymentEnvironment, type PaymentPolicy } from './config/payment.environment.js';
export { ProxyEnvironment } from './config/proxy.environment.js';
export * from './config/read-environment.js';
export { readSettingFile } from './config/read-setting-file.js';
export { RedisEnvironment } from './config/redis.environment.js';
export { findUrlProblems, RpcEnvironment } from './config/rpc.environment.js';
export {
  IsGwei,
  IsIntIn,
  IsRandomText,
  parseGwei,
  Setting,
  SettingGroup,
  type EnvironmentClass,
  type SettingDescription,
} from './config/setting.js';
export { SignedPaymentsEnvironment, type SignedAsset } from './config/signed-payments.environment.js';
export { NestPublisher } from './events/nest-publisher.js';
export { checkRedis, HealthModule, StillStartingError, type ReadinessChecks } from './health/health.module.js';
export * from './http/request-schemas.js';
export { arriveWithin } from './http/arrive-within.js';
export { closeWhenIdle } from './http/close-when-idle.js';
export { clientNetwork, RateLimit } from './http/rate-limit.js';
export { EventStreamResponse, openEventStream, type EventStreamLimits } from './http/event-stream-response.js';
export { OpenStreams } from './http/open-streams.js';
export { handleError, ProblemFilter } from './http/problem.filter.js';
export * from './http/problem.js';
export { PROBLEM_CODES } from './http/problem-codes.js';
export { isLoopbackHost, isPublicAddress } from './http/public-address.js';
export { assertPublicTarget } from './http/resolve-target.js';
export { createSafeFetch, type SafeFetch } from './http/safe-fetch.js';
export { TargetRefusedError, type TargetRules } from './http/target-rules.js';
export { createLoggerParams } from './logging/create-logger-params.js';
export { RareErrors } from './logging/rare-errors.js';
export { REDIS_LOGGER } from './logging/redis-logger.js';
export { withRequestId } from './logging/request-id.js';
export { SampledLogger } from './logging/sampled-logger.js';
export * from './messages/messages.js';
export * from './messages/queue-jobs.js';
export * from './messages/verifier-questions.js';
export * from './messages/worker-questions.js';
export { MetricsModule } from './metrics/metrics.module.js';
export { keepFresh, observeCounts, observeGauge, observeSamples, type Sample } from './metrics/observe.js';
export { BoundServer } from './request-reply/bound-server.js';
export { createQueueKeys } from './request-reply/envelope.js';
export { RequestReplyClient, type AskOptions } from './request-reply/request-reply-client.js';
export { RequestReplyContext } from './request-reply/request-reply-context.js';
export { NoReplyError, QueueFullError, RequestFailedError } from './request-reply/request-reply-error.js';
export { RequestReplyServer } from './request-reply/request-reply-server.js';
export { describeSettings, findDifferences, type SettingDifference } from './settings/compare-settings.js';
export { ICON_URL } from './web/icon.js';
export * from './web/web-file.js';
export { CONSOLE_COOKIE, readConsoleCookies, withoutConsoleCookie } from './web/console-cookie.js';
export { isStopping, runService, type RunningService } from './shutdown/run-service.js';

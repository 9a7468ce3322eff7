export { checkRedis, HealthModule, StillStartingError, type ReadinessChecks } from './health/health.module.js';
export { createLoggerParams } from './logging/create-logger-params.js';
export { RareErrors } from './logging/rare-errors.js';
export { REDIS_LOGGER } from './logging/redis-logger.js';
export { SampledLogger } from './logging/sampled-logger.js';
export { MetricsModule } from './metrics/metrics.module.js';
export { keepFresh, observeCounts, observeGauge, observeSamples, type Sample } from './metrics/observe.js';
export { isStopping, runService, type RunningService } from './shutdown/run-service.js';

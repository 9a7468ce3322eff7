export {
  API_KEY_SCOPES,
  mayAccept,
  mayUseWallet,
  needsNoWallet,
  type ApiKey,
  type ApiKeyScope,
} from './api-keys/api-key.js';
export { KeyAdmission, type Demand } from './api-keys/key-admission.js';
export { ApiKeyStore, type NewApiKey } from './api-keys/api-key-store.js';
export * from './request-schemas.js';
export { arriveWithin } from './arrive-within.js';
export { closeWhenIdle } from './close-when-idle.js';
export { clientNetwork, RateLimit } from './rate-limit.js';
export { EventStreamResponse, openEventStream, type EventStreamLimits } from './event-stream-response.js';
export { toOpenApiSchema } from './openapi-schema.js';
export { OpenStreams } from './open-streams.js';
export { handleError, ProblemFilter } from './problem.filter.js';
export * from './problem.js';
export { PROBLEM_CODES } from './problem-codes.js';
export { isLoopbackHost, isPublicAddress } from './public-address.js';
export { assertPublicTarget } from './resolve-target.js';
export { createSafeFetch, type SafeFetch } from './safe-fetch.js';
export { TargetRefusedError, type TargetRules } from './target-rules.js';
export { currentRequestId, withRequestId } from './request-id.js';
export { ICON_URL } from './web/icon.js';
export * from './web/web-file.js';
export { CONSOLE_COOKIE, readConsoleCookies, withoutConsoleCookie } from './web/console-cookie.js';

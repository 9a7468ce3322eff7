export { WebhookDeliveries, type FailedDelivery } from './webhook-deliveries.js';
export { deriveWebhookSecret } from './post-event.js';
export { WebhookTargets, type FoundTargets, type TargetName, type WebhookTarget } from './webhook-targets.js';
export { describeLetter, describeTarget, letterView, targetView } from './views.js';
export { BOOK_POSITION } from './subject.js';
export { Webhooks } from './webhooks.js';
export { WebhookEnvironment } from './webhook.environment.js';

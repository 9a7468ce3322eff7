// The package's second entry: planning alone, without anything that signs or sends.
export { AgentKitError, type AgentKitErrorCode } from './agent-kit-error.js';
export type { OperationContext } from './operations/operation.js';
export { parsePaymentInput } from './operations/pay-for-resource.js';
export { askPrice, parseResourceUrl } from './payments/ask-price.js';
export { createPaymentStep, draftPayment, type PaymentDraftContext } from './payments/draft-payment.js';
export { createPaymentLimits, type PaymentLimits } from './payments/payment-limits.js';
export { readAnswer, type PaidAnswer } from './payments/read-answer.js';
export type { Plan, PlanDraft, Step } from './plan/plan.js';
export { cleanUntrusted, quoteUntrusted } from './tokens/untrusted-text.js';

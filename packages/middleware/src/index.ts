export type { Answer, SoldAnswer } from './answer/answer.js';
export type { Asset, Offer, PaymentTerms } from './offer/challenge.js';
export { FacilitatorError, type FacilitatorOptions } from './verify/facilitator.js';
export { PaymentGate, type Admission, type PaidRequest, type Sale, type Settlement } from './gate/gate.js';
export type { GateOptions, OwedPayment } from './gate/gate-options.js';
export { handleRequest } from './adapters/handle-request.js';
export { MemoryStore, type MemoryStoreOptions, type PaymentStore, type StoredValue } from './stores/payment-store.js';
export { BrokenBodyError, type GateRequest } from './present/shown-payment.js';

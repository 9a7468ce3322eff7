export type { Answer } from './answer.js';
export type { Asset, Offer, PaymentTerms } from './challenge.js';
export { FacilitatorError, type FacilitatorOptions } from './facilitator.js';
export { PaymentGate, type Admission, type GateOptions, type GateRequest, type Sale } from './gate.js';
export { handleRequest } from './handle-request.js';
export type { PaidRequest, Settlement } from './paid-request.js';
export { MemoryStore, type MemoryStoreOptions } from './memory-store.js';
export type { PaymentStore, StoredValue } from './payment-store.js';
export type { SoldAnswer } from './sold-answer.js';

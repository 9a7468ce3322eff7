export * from './method-table.js';
export * from './registry.js';
export * from './signed-fields.js';
export * from './signed-method.js';
export * from './signed-payment.js';
export type { SignedTransferTerms } from './transfer-terms.js';
export type { TypedData, TypedField } from './typed-data.js';

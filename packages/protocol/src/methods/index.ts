// What is published of the methods that are built in.
export {
  createTransferAuthorization,
  type SignedAuthorization,
  type TransferAuthorization,
} from './eip3009/authorization.js';
export { createDomainMissing } from './eip3009/method.js';
export * from './eip3009/signing.js';
export {
  createPermit2Transfer,
  EXACT_PROXY_ADDRESS,
  PERMIT2_ADDRESS,
  UPTO_PROXY_ADDRESS,
  type MeteredPermit2Authorization,
  type Permit2Authorization,
  type Permit2Transfer,
  type SignedPermit,
} from './permit2/permit.js';
export * from './permit2/signing.js';
// What is common to all methods.
export * from './registry.js';
export * from './signed-fields.js';
export * from './signed-method.js';
export * from './signed-payment.js';
export type { SignedTransferTerms } from './transfer-terms.js';
export type { TypedData, TypedField } from './typed-data.js';

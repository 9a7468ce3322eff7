export { assertSecureUrl } from './assert-secure-url.js';
export type { AuthorizationSigner, SignedToken } from './authorization-signer.js';
export {
  chooseRequirement,
  type ChoiceTerms,
  type ChosenRequirement,
  type TrustedAsset,
} from './choose-requirement.js';
export { createPaymentCall } from './create-payment-call.js';
export { createRpcTransport, type RpcTransportOptions } from './create-rpc-transport.js';
export { readNoAnswer, type NoAnswer } from './describe-no-answer.js';
export { fetchWithPayment } from './fetch-with-payment.js';
export { payForResource } from './pay-for-resource.js';
export { PaymentNotAcceptedError } from './payment-not-accepted-error.js';
export type { PaymentEvent, PaymentOptions, SkippedOffer } from './payment-options.js';
export {
  abandonPayment,
  MemoryPaymentStore,
  type PaymentState,
  type PaymentStore,
  type RedeemablePayment,
  type SignedTransaction,
  type StoredPayment,
  type StoredRevision,
} from './payment-store.js';
export type { PermitSigner } from './permit-signer.js';
export { readChallenge } from './read-challenge.js';
export { readChunks } from './read-chunks.js';
export { findRefusal, readDetails } from './read-details.js';
export { readSystemCode } from './read-system-code.js';
export { redeemPaidRequest, type RedeemOptions } from './redeem-paid-request.js';
export type { PaidResponse } from './redeem-payment.js';
export type { AuthorizableRequirement, PermittableRequirement, SignableRequirement } from './signable-requirement.js';
export { SpendingLimit } from './spending-limit.js';
export { createWallet, type Wallet, type WalletOptions } from './wallet.js';

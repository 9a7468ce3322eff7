export { PaymentError, type ClientFailure, type PaymentErrorCode, type PaymentFailure } from '@tollgate/protocol';

export type { Account, Call, Confirmation, Wallet } from './account/wallet.js';
export { createWallet, type WalletOptions } from './account/create-wallet.js';
export type { NonceUse } from './account/find-nonce-use.js';
export type { PollLimits } from './account/read-at-block.js';
export { signAndSend } from './account/send.js';
export type { SignedTransaction } from './account/signed-transaction.js';
export { fetchWithPayment, payForResource } from './fetch/fetch-with-payment.js';
export { PaymentNotAcceptedError } from './fetch/payment-not-accepted-error.js';
export { createRpcTransport, type RpcTransportOptions } from './network/rpc-client.js';
export type { AuthorizableRequirement, PermittableRequirement } from './methods/registry.js';
export type { AuthorizationSigner, PermitSigner, SignedToken } from './account/signers.js';
export type { SkippedOffer } from './offer/judge-offers.js';
export type { TrustedAsset } from './offer/trusted-asset.js';
export type { AuthorizableCharge, TransferableCharge } from './offer/charge-requirement.js';
export type { Offer, SignableRequirement, TransferRequirement } from './offer/signable-requirement.js';
export { SpendingLimit } from './offer/spending-limit.js';
export type { PaymentEvent, PaymentOptions } from './sign/payment-options.js';
export {
  abandonPayment,
  MemoryPaymentStore,
  type PaymentState,
  type PaymentStore,
  type RedeemablePayment,
  type StoredPayment,
  type StoredRevision,
} from './store/payment-store.js';

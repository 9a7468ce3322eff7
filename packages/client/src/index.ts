export type { Account, Call, Confirmation } from './account/account.js';
export { findAccountMemory } from './account/account-memory.js';
export { createWallet, type WalletOptions } from './account/create-wallet.js';
export type { NonceUse } from './account/find-nonce-use.js';
export { isReceiptOf, pollReceipt, POLLING } from './account/poll-receipt.js';
export { readHeadTerms } from './account/quote-call.js';
export { readTokenDomain } from './account/read-token-domain.js';
export { readFromBlock, type PollLimits } from './account/read-at-block.js';
export { signAndSend } from './account/send.js';
export { assertSecureUrl } from './network/assert-secure-url.js';
export type { AuthorizationSigner, PermitSigner, SignedToken } from './account/typed-data-signers.js';
export type { ChosenRequirement, TrustedAsset } from './offer/choose-requirement.js';
export { readOffers, type Offers, type PaymentSigners } from './sign/read-offers.js';
export { chooseOffer, type ChosenOffer, type ChoiceTerms } from './sign/sign-payment.js';
export { createPaymentCall } from './sign/create-payment-call.js';
export { createRpcTransport, joinTransports, type RpcTransportOptions } from './network/rpc-client.js';
export { findRefusal, isUnanswered, readDetails, readNoAnswer, type NoAnswer } from './network/rpc-failure.js';
export { fetchWithPayment, payForResource } from './fetch/fetch-with-payment.js';
export { PaymentNotAcceptedError } from './fetch/payment-not-accepted-error.js';
export type { PaymentEvent, PaymentOptions, SkippedOffer } from './sign/payment-options.js';
export {
  abandonPayment,
  MemoryPaymentStore,
  nonceOf,
  type PaymentState,
  type PaymentStore,
  type RedeemablePayment,
  type SignedTransaction,
  type StoredPayment,
  type StoredRevision,
} from './store/payment-store.js';
export { parseJson, readChunks } from './network/read-body.js';
export { readSystemCode } from './network/read-system-code.js';
export { redeemPaidRequest, type RedeemOptions } from './fetch/redeem-paid-request.js';
export type { PaidResponse } from './fetch/redeem-payment.js';
export { isCharge, type AuthorizableCharge, type TransferableCharge } from './offer/charge-requirement.js';
export {
  isSignable,
  wayOf,
  type AuthorizableRequirement,
  type Offer,
  type PaymentWay,
  type PermittableRequirement,
  type SignableRequirement,
  type TransferRequirement,
} from './offer/signable-requirement.js';
export { SpendingLimit } from './offer/spending-limit.js';
export type { Wallet } from './account/wallet.js';

export { assertSecureUrl } from './assert-secure-url.js';
export { chooseRequirement, type ChosenRequirement, type TrustedAsset } from './choose-requirement.js';
export { fetchWithPayment } from './fetch-with-payment.js';
export { payForResource } from './pay-for-resource.js';
export { PaymentNotAcceptedError } from './payment-not-accepted-error.js';
export type { PaymentEvent, PaymentOptions } from './payment-options.js';
export {
  abandonPayment,
  MemoryPaymentStore,
  type PaymentState,
  type PaymentStore,
  type SignedTransaction,
  type StoredPayment,
  type StoredRevision,
} from './payment-store.js';
export { readChallenge } from './read-challenge.js';
export { createWallet, type Wallet, type WalletOptions } from './wallet.js';

export type * from './ports.js';
export { refundPreview, type RefundPreview } from './preview.js';
export {
  isRefundsWallet,
  nameRefund,
  nameRefundJob,
  nameRefundsWallet,
  readRefundJob,
  type RefundJobInput,
} from './refund-job.js';
export {
  refundSchema,
  REFUND_STATES,
  RELEASED_STATES,
  type ArrivedTransfer,
  type Refund,
  type RefundCaps,
  type RefundState,
  type RefundTerms,
  type TakenPart,
} from './refund.js';
export { paymentNotFound, RefundRefusedError } from './refusals.js';
export { Refunds, type RefundRequest } from './refunds.js';

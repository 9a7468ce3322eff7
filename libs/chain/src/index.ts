export { combineObservers } from './rpc/chain-observer.js';
export type { ChainObserver, EndedBatch } from './rpc/chain-observer.js';
export { ChainUnavailableError, ReceiptTooLargeError } from './rpc/chain-unavailable-error.js';
export { readChainId } from './rpc/read-chain-id.js';
export { RpcBatcher } from './rpc/rpc-batcher.js';
export type { RpcAsker } from './rpc/rpc-batcher.js';
export { hasContractFailed, MISSING, RpcEndpoint, valueOf } from './rpc/rpc-endpoint.js';
export type { BatchLimits, RpcCall, RpcResult } from './rpc/rpc-endpoint.js';
export { RpcEndpoints } from './rpc/rpc-endpoints.js';
export { RPC_TIMEOUT_MS } from './rpc/rpc-http.js';
export { malformed, parseBigQuantity, parseData, parseHash, parseObject, parseQuantity } from './rpc/rpc-value.js';
export { ShortMemory } from './rpc/short-memory.js';
export { parseReceipt } from './receipts/receipt.js';
export { parseTransaction, type Transaction } from './receipts/transaction.js';
export type { EmittedLog, Receipt } from './receipts/receipt.js';
export { FeeQuotes } from './fees/fee-quotes.js';
export { quoteFees, raiseFees } from './fees/fees.js';
export type { Fees } from './fees/fees.js';
export {
  askForBalance,
  askForCode,
  hasCode,
  readCall,
  readCode,
  readWord,
  tryCall,
} from './contracts/contract-question.js';
export type { ContractCall, TriedCall } from './contracts/contract-question.js';
export { askForSignature } from './contracts/contract-signature.js';
export type { ContractSignature } from './contracts/contract-signature.js';
export { factoryOf, readPayerSignature, splitSignature, unwrapSignature } from './contracts/payer-signature.js';
export type { PayerSignature } from './contracts/payer-signature.js';
export { askForNativeBalance, canPay, estimateSentCall, trySentCall } from './contracts/sent-call.js';
export type { SentCall } from './contracts/sent-call.js';
export { listTransfers, type PlacedTransfer } from './contracts/token-log.js';
export { bundleCalls, readBundle } from './contracts/multicall3/bundle-calls.js';
export type {
  AuthorizationQuestion,
  AuthorizationView,
  SettlementRoute,
} from './contracts/eip3009/authorization-view.js';
export { findAuthorizations } from './contracts/eip3009/find-authorizations.js';
export { AuthorizedTransfers } from './contracts/eip3009/has-settlement.js';
export type { PromisedTransfer } from './contracts/eip3009/has-settlement.js';
export { planTransfer } from './contracts/eip3009/plan-transfer.js';
export { findMoved, findPermitTransfers } from './contracts/permit2/find-permit-transfers.js';
export type { PromisedPermit } from './contracts/permit2/find-permit-transfers.js';
export { planPermitTransfer, PROXIES, readPermitCall } from './contracts/permit2/permit-proxy.js';
export type { PermitQuestion, PermitView } from './contracts/permit2/permit-view.js';
export { ChainReader } from './reader/chain-reader.js';
export type { MinedTransaction, Sighting } from './reader/chain-reader.js';
export { connectChain } from './reader/connect-chain.js';
export type { ConnectedChain } from './reader/connect-chain.js';
export { findAuthorizationUse } from './nonce-uses/find-authorization-use.js';
export type { AuthorizationLookUp, AuthorizationUse } from './nonce-uses/find-authorization-use.js';
export { findPermitUse, SENT_BY_ANOTHER } from './nonce-uses/find-permit-use.js';
export type { PermitLookUp, PermitUse } from './nonce-uses/find-permit-use.js';
export { ChainHistory } from './history/chain-history.js';
export type { CostedReceipt } from './history/chain-history.js';
export { TransferWalk } from './history/transfer-walk.js';
export type { TransferPage } from './history/transfer-walk.js';
export { lookUpAuthorization } from './nonce-uses/look-up-authorization.js';

export {
  askForBalance,
  askForCode,
  askForNativeBalance,
  canPay,
  estimateSentCall,
  hasCode,
  readCall,
  readCode,
  readWord,
  tryCall,
  trySentCall,
} from './contracts/contract-question.js';
export type { ContractCall, SentCall, TriedCall } from './contracts/contract-question.js';
export { askForSignature, type ContractSignature } from './contracts/contract-signature.js';
export { askLater, type CallPlace, LATEST } from './contracts/later-call.js';
export { bundleCalls, readBundle } from './contracts/multicall3/bundle-calls.js';
export { deploymentOf, readPayerSignature, splitSignature, unwrapSignature } from './contracts/payer-signature.js';
export type { PayerSignature } from './contracts/payer-signature.js';
export type { StatedDomain } from './contracts/token-domain.js';
export { isExpectedFactory, listFactories, NO_FACTORIES } from './contracts/wallet-factories.js';
export type { Deployment, WalletFactories } from './contracts/wallet-factories.js';
export { FeeQuotes, readFees } from './fees/fee-quotes.js';
export { ChainHistory, type CostedReceipt } from './history/chain-history.js';
export { type TransferPage, TransferWalk } from './history/transfer-walk.js';
export type * from './methods/chain-method.js';
export { findCauses, listArrivals, MovedPayments, type Arrival } from './methods/payment-logs.js';
export * from './methods/registry.js';
export { notShown, type SentPayment, wasSent } from './methods/sent-payment.js';
export { ChainReader, type MinedTransaction, type Sighting } from './reader/chain-reader.js';
export { connectChain, type ConnectedChain } from './reader/connect-chain.js';
export { parseReceipt, type Receipt } from './receipts/receipt.js';
export { chainBehind, ChainUnavailableError, ReceiptTooLargeError } from './rpc/chain-unavailable-error.js';
export { type RpcAsker, RpcBatcher } from './rpc/rpc-batcher.js';
export { hasContractFailed, MISSING, readChainId, RpcEndpoint, valueOf } from './rpc/rpc-endpoint.js';
export type { BatchLimits, RpcCall, RpcResult } from './rpc/rpc-endpoint.js';
export { type ChainObserver, combineObservers, type EndedBatch, RpcEndpoints } from './rpc/rpc-endpoints.js';
export { RPC_TIMEOUT_MS } from './rpc/rpc-http.js';
export { malformed, parseBigQuantity, parseData, parseHash, parseObject, parseQuantity } from './rpc/rpc-value.js';
export { ShortMemory } from './rpc/short-memory.js';

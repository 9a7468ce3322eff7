import { isHash, type Hex } from '@tollgate/protocol';

import {
  askAboutAuthorization,
  askForNonce,
  readNonce,
  type AuthorizationName,
  type AuthorizationQuestion,
  type AuthorizationView,
} from './authorization-view.js';
import type { BlockTimes } from './block-times.js';
import { ChainUnavailableError } from './chain-unavailable-error.js';
import { askContract, askForBalance, readCall, readWord } from './contract-question.js';
import { askForSignature, readSignatureAnswer, type ContractSignature } from './contract-signature.js';
import {
  askAboutPermit,
  askForPermitNonce,
  readPermitNonce,
  type PermitName,
  type PermitQuestion,
  type PermitTrial,
  type PermitView,
} from './permit-view.js';
import { parseReceipt, type Receipt } from './receipt.js';
import { nameSignature, type RefusedSignatures } from './refused-signatures.js';
import type { RpcAsker, RpcBatcher } from './rpc-batcher.js';
import { MISSING, valueOf, type RpcResult } from './rpc-endpoint.js';
import { malformed } from './rpc-value.js';
import { searchLogs, type FoundLog, type LogSearch } from './search-logs.js';
import type { SearchMemory } from './search-memory.js';
import { askForNativeBalance, canPay, trySentCall, type SentCall } from './sent-call.js';
import { parseTransaction } from './transaction.js';

/** A transaction that is in a block. */
export interface MinedTransaction {
  receipt: Receipt;
  /** The calldata, in lower case. */
  input: Hex;
  /** Null: it created a contract. */
  to: Hex | null;
}

/** What the chain says about a transaction now; `mined` is null while there is no receipt. */
export interface Sighting {
  mined: MinedTransaction | null;
  headBlockNumber: number;
}

/** `DOMAIN_SEPARATOR()` (EIP-2612, EIP-3009) */
const DOMAIN_SEPARATOR = '0x3644e515';
/** `decimals()` (ERC-20) */
const DECIMALS = '0x313ce567';

/** Reads payments from the chain: one round trip each, shared with the others that are under way. */
export class ChainReader {
  constructor(
    private readonly batcher: RpcBatcher,
    private readonly blockTimes: BlockTimes,
    private readonly logRangeBlocks: number,
    private readonly pastSearches: SearchMemory,
    /** Also for those whose signature is looked at together with more. */
    readonly refusedSignatures: RefusedSignatures,
  ) {}

  /** @throws ChainUnavailableError when no believable answer came before the deadline; ReceiptTooLargeError */
  readTransaction(txHash: Hex, deadlineMs: number, asker?: RpcAsker): Promise<Sighting> {
    return this.batcher.ask({
      calls: [
        { method: 'eth_getTransactionReceipt', params: [txHash] },
        { method: 'eth_getTransactionByHash', params: [txHash] },
      ],
      subject: txHash,
      receiptOf: txHash,
      asker,
      deadlineMs,
      read: ([receipt = MISSING, transaction = MISSING], headBlockNumber) =>
        readSighting(txHash, receipt, transaction, headBlockNumber),
    });
  }

  /** The time of the block the receipt is in, in milliseconds. */
  readBlockTime(receipt: Receipt, deadlineMs: number): Promise<number> {
    return this.blockTimes.read(receipt, deadlineMs);
  }

  /** EIP-1271: false for an address without code, and for a contract that fails or says no. */
  async isContractSignature(signed: ContractSignature, deadlineMs: number, asker?: RpcAsker): Promise<boolean> {
    if (this.refusedSignatures.include(signed)) return false;
    const answer = await this.batcher.ask({
      calls: [askForSignature(signed)],
      subject: nameSignature(signed),
      asker,
      deadlineMs,
      read: ([call]) => readSignatureAnswer(call),
    });
    if (answer === 'no') this.refusedSignatures.remember(signed);
    return answer === 'yes';
  }

  /** All that has to be known of an authorization before it is settled, of one moment. */
  readAuthorization(question: AuthorizationQuestion, deadlineMs: number, asker?: RpcAsker): Promise<AuthorizationView> {
    return this.batcher.ask({ ...askAboutAuthorization(question), asker, deadlineMs });
  }

  /** Whether a call would succeed as it will be sent; also true where its sender could not pay for it: then nothing is known. */
  wouldSucceed(call: SentCall, deadlineMs: number, asker?: RpcAsker): Promise<boolean> {
    return this.batcher.ask({
      calls: [trySentCall(call, 'latest'), askForNativeBalance(call.from)],
      deadlineMs,
      asker,
      read: ([result, balance]) => !canPay(call, balance) || readCall(result) !== null,
    });
  }

  /** Whether the nonce of an authorization is used or cancelled, and up to which block that is known. */
  readNonce(name: AuthorizationName, deadlineMs: number): Promise<{ isTaken: boolean; headBlockNumber: number }> {
    return this.batcher.ask({
      calls: [askForNonce(name)],
      deadlineMs,
      read: ([taken], headBlockNumber) => ({ isTaken: readNonce(taken), headBlockNumber }),
    });
  }

  /** What a payer has of a token, and which of these nonces are taken: whatever the balance shows as moved, and maybe more. */
  readMeans(
    { asset, payer, nonces }: Omit<AuthorizationName, 'nonce'> & { nonces: readonly Hex[] },
    deadlineMs: number,
  ): Promise<{ balanceBaseUnits: bigint; areTaken: boolean[] }> {
    return this.batcher.ask({
      // In this order: what is moved between two calls has its nonce taken, and left the balance afterwards.
      calls: [askForBalance(asset, payer), ...nonces.map((nonce) => askForNonce({ asset, payer, nonce }))],
      deadlineMs,
      read: ([balance, ...taken]) => ({
        balanceBaseUnits: readWord(balance) ?? malformed('no balance of a token'),
        areTaken: nonces.map((_, index) => readNonce(taken[index])),
      }),
    });
  }

  /** All that has to be known of a permit before it is settled, of one moment. */
  readPermit(
    { isTried, ...question }: PermitQuestion & PermitTrial,
    deadlineMs: number,
    asker?: RpcAsker,
  ): Promise<PermitView> {
    return this.batcher.ask({ ...askAboutPermit(question, { isTried }), asker, deadlineMs });
  }

  /** Whether the nonce of a permit is taken, and up to which block that is known; null where no Permit2 answers. */
  readPermitNonce(name: PermitName, deadlineMs: number): Promise<{ isTaken: boolean | null; headBlockNumber: number }> {
    return this.batcher.ask({
      calls: [askForPermitNonce(name)],
      deadlineMs,
      read: ([word], headBlockNumber) => ({ isTaken: readPermitNonce(name, word), headBlockNumber }),
    });
  }

  /** The token's own EIP-712 domain separator; null where it tells none. */
  readDomainSeparator(asset: Hex, deadlineMs: number): Promise<Hex | null> {
    return this.batcher.ask({
      calls: [askContract(asset, DOMAIN_SEPARATOR)],
      deadlineMs,
      read: ([call]) => {
        const data = readCall(call);
        return isHash(data) ? data : null;
      },
    });
  }

  /** The token's own decimals; null where it tells none. */
  readDecimals(asset: Hex, deadlineMs: number): Promise<bigint | null> {
    return this.batcher.ask({
      calls: [askContract(asset, DECIMALS)],
      deadlineMs,
      read: ([word]) => readWord(word),
    });
  }

  /** The logs that fit, from the head back until there are some or the blocks are too old. */
  searchLogs(search: LogSearch): Promise<FoundLog[]> {
    return searchLogs(this.batcher, this.logRangeBlocks, search);
  }

  /**
   * The same for what happens once and is known to have happened: remembered for a minute.
   * @param event what it is, where address and topics do not say it
   */
  searchPast(search: LogSearch, event = ''): Promise<FoundLog[]> {
    return this.pastSearches.find(search, event, (again) => this.searchLogs(again));
  }

  /** The number of the newest block; throws where the chain is not the configured one. */
  readHead(deadlineMs: number): Promise<number> {
    return this.batcher.ask({ calls: [], deadlineMs, read: (_, headBlockNumber) => headBlockNumber });
  }
}

function readSighting(txHash: Hex, receiptResult: RpcResult, transactionResult: RpcResult, head: number): Sighting {
  const receipt = parseReceipt(valueOf(receiptResult, 'eth_getTransactionReceipt'), txHash);
  const transaction = parseTransaction(valueOf(transactionResult, 'eth_getTransactionByHash'), txHash);
  if (receipt === null) return { mined: null, headBlockNumber: head };
  // Servers behind one load balancer may be a block apart, and a block may be replaced between the two calls.
  if (transaction?.blockHash !== receipt.blockHash) {
    throw new ChainUnavailableError('rpc_inconsistent', 'The receipt and the transaction name different blocks.');
  }
  const { input, to } = transaction;
  return { mined: { receipt, input, to }, headBlockNumber: Math.max(head, receipt.blockNumber) };
}

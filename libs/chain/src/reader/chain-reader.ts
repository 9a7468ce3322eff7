import type { Hex } from '@tollgate/protocol';

import {
  askContract,
  askForBalance,
  readCall,
  readWord,
  askForNativeBalance,
  canPay,
  tryCall,
  trySentCall,
  type ChainQuestion,
  type NonceQuestion,
  type SentCall,
  type TriedCall,
} from '../contracts/contract-question.js';
import {
  askForSignature,
  readSignatureAnswer,
  type ContractSignature,
  nameSignature,
  type RefusedSignatures,
} from '../contracts/contract-signature.js';
import { askLater, type CallPlace, type ValidityStart } from '../contracts/later-call.js';
import { askForDomain, readDomain, type StatedDomain } from '../contracts/token-domain.js';
import { searchLogs, type FoundLog, type LogSearch, type SearchMemory } from '../logs/search-logs.js';
import type { BlockTimes } from '../receipts/block-times.js';
import { parseReceipt, type Receipt, parseTransaction } from '../receipts/receipt.js';
import { chainBehind, ChainUnavailableError } from '../rpc/chain-unavailable-error.js';
import type { RpcAsker, RpcBatcher } from '../rpc/rpc-batcher.js';
import { valueOf, type RpcResult } from '../rpc/rpc-endpoint.js';
import { malformed } from '../rpc/rpc-value.js';

/** A transaction that was included in a block. */
export interface MinedTransaction {
  receipt: Receipt;
  /** The calldata, in lower case. */
  input: Hex;
  /** Null when the transaction created a contract. */
  to: Hex | null;
}

/** The current state of a transaction on the chain; `mined` is null while there is no receipt. */
export interface Sighting {
  mined: MinedTransaction | null;
  headBlockNumber: number;
}

/** No server that is in use lags this far behind, whichever of the two is longer. */
const LAGGING_BLOCKS = 64;
const LAGGING_MS = 60_000;

/** `decimals()` (ERC-20) */
const DECIMALS = '0x313ce567';

/** Reads payments from the chain. Each read is one round trip, batched with others in flight. */
export class ChainReader {
  constructor(
    private readonly batcher: RpcBatcher,
    private readonly blockTimes: BlockTimes,
    private readonly logRangeBlocks: number,
    private readonly pastSearches: SearchMemory,
    /** Public for callers that check a signature together with other calls. */
    readonly refusedSignatures: RefusedSignatures,
  ) {}

  /** @throws ChainUnavailableError when no valid answer came before the deadline; ReceiptTooLargeError */
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
      read: (results, headBlockNumber) => readSighting(txHash, results, headBlockNumber),
    });
  }

  /** The time of the block the receipt is in, in milliseconds. */
  readBlockTime(receipt: Receipt, deadlineMs: number): Promise<number> {
    return this.blockTimes.read(receipt, deadlineMs);
  }

  /** EIP-1271 check: false for an address without code, and for a contract that fails or rejects the signature. */
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

  /** Asks at one block, such as for all that must be known of a payment before it is settled. */
  ask<Answer>(question: ChainQuestion<Answer>, deadlineMs: number, asker?: RpcAsker): Promise<Answer> {
    return this.batcher.ask({ ...question, asker, deadlineMs });
  }

  /**
   * Simulates a call again that has failed in the newest block, which may be older than the start of a payment's
   * validity. Returns where it succeeds; null when it fails. @throws ChainUnavailableError also when no block can tell
   */
  async tryLater(
    call: TriedCall,
    start: ValidityStart,
    deadlineMs: number,
    asker?: RpcAsker,
  ): Promise<CallPlace | null> {
    const simulation = await this.batcher.ask({ ...askLater(tryCall(call), start), asker, deadlineMs });
    if (simulation.outcome === 'unknown') throw chainBehind();
    return simulation.outcome === 'succeeds' ? simulation.place : null;
  }

  /**
   * Simulates a call as it will be sent. Also true when the sender could not pay for it, since then the simulation
   * shows nothing.
   */
  wouldSucceed(call: SentCall, place: CallPlace, deadlineMs: number, asker?: RpcAsker): Promise<boolean> {
    return this.batcher.ask({
      calls: [trySentCall(call, place), askForNativeBalance(call.from)],
      deadlineMs,
      asker,
      read: ([result, balance]) => !canPay(call, balance) || readCall(result) !== null,
    });
  }

  /**
   * Reads whether a payment's nonce is used or cancelled, and the block up to which that holds.
   * @param shown a transaction that may have changed it: a server that lags behind the one that shows it fails
   */
  async readNonce(
    nonce: NonceQuestion,
    deadlineMs: number,
    shown?: Sighting,
  ): Promise<{ isTaken: boolean | null; headBlockNumber: number }> {
    const blockNumber = await this.#readBlockToAskAt(shown, deadlineMs);
    return this.batcher.ask({
      calls: [nonce.ask(blockNumber)],
      deadlineMs,
      read: ([taken], headBlockNumber) => ({ isTaken: nonce.read(taken), headBlockNumber }),
    });
  }

  /**
   * Reads a payer's token balance and which of these nonces are taken. Every transfer that the balance reflects shows
   * its nonce as taken; later ones may too.
   */
  readMeans(
    { asset, payer, nonces }: { asset: Hex; payer: Hex; nonces: readonly NonceQuestion[] },
    deadlineMs: number,
  ): Promise<{ balanceBaseUnits: bigint; areTaken: (boolean | null)[] }> {
    return this.batcher.ask({
      // The balance goes first: a payment settled between two calls then shows as a taken nonce that is still in the
      // balance.
      calls: [askForBalance(asset, payer), ...nonces.map((nonce) => nonce.ask())],
      deadlineMs,
      read: ([balance, ...taken]) => ({
        balanceBaseUnits: readWord(balance) ?? malformed('no token balance'),
        areTaken: nonces.map((nonce, index) => nonce.read(taken[index])),
      }),
    });
  }

  /** An account's token balance in the newest block. */
  readBalance(asset: Hex, owner: Hex, deadlineMs: number): Promise<bigint> {
    return this.batcher.ask({
      calls: [askForBalance(asset, owner)],
      deadlineMs,
      read: ([balance]) => readWord(balance) ?? malformed('no token balance'),
    });
  }

  /** What the token states about its EIP-712 domain; null when it states nothing. */
  readTokenDomain(asset: Hex, deadlineMs: number): Promise<StatedDomain | null> {
    return this.batcher.ask({ calls: askForDomain(asset), deadlineMs, read: readDomain });
  }

  /** The token's decimals; null when the token has no such function. */
  readDecimals(asset: Hex, deadlineMs: number): Promise<bigint | null> {
    return this.batcher.ask({
      calls: [askContract(asset, DECIMALS)],
      deadlineMs,
      read: ([word]) => readWord(word),
    });
  }

  /** Finds matching logs from the head backwards, until some are found or the blocks are too old. */
  searchLogs(search: LogSearch): Promise<FoundLog[]> {
    return searchLogs(this.batcher, this.logRangeBlocks, search);
  }

  /**
   * Like `searchLogs`, for an event that happens once and is known to have happened: the result is cached (`SearchMemory`).
   * @param event identifies the event where address and topics do not
   */
  searchPast(search: LogSearch, event = ''): Promise<FoundLog[]> {
    return this.pastSearches.find(search, event, (again) => this.#searchUpToNow(again));
  }

  /** Whether `searchPast` has found nothing twice for this event, with time in between for a server to catch up. */
  foundNothingTwice(search: LogSearch, event = ''): boolean {
    return this.pastSearches.foundNothingTwice(search, event);
  }

  /** Like `searchPast`, for blocks below those that were searched: it never looks at newer ones. */
  searchBelow(search: LogSearch, event: string): Promise<FoundLog[]> {
    return this.pastSearches.find(search, event, (again) => this.searchLogs(again));
  }

  /** A head that is read in one batch with the event's effect may be older than the block of the event. */
  async #searchUpToNow(search: LogSearch): Promise<FoundLog[]> {
    const logs = await this.searchLogs(search);
    if (logs.length > 0) return logs;
    const headBlockNumber = await this.readHead(search.deadlineMs);
    return headBlockNumber > search.headBlockNumber ? this.searchLogs({ ...search, headBlockNumber }) : logs;
  }

  /** The number of the newest block. @throws ChainUnavailableError also when the server is on another chain */
  readHead(deadlineMs: number): Promise<number> {
    return this.batcher.ask({ calls: [], deadlineMs, read: (_, headBlockNumber) => headBlockNumber });
  }

  /**
   * The newest block of the server that shows the transaction. Undefined, for the newest block of any server, once every
   * server has it: one that refuses calls at a block's number must not be asked for ever.
   */
  async #readBlockToAskAt(shown: Sighting | undefined, deadlineMs: number): Promise<number | undefined> {
    if (shown === undefined || shown.mined === null) return undefined;
    const { mined, headBlockNumber } = shown;
    if (headBlockNumber - mined.receipt.blockNumber < LAGGING_BLOCKS) return headBlockNumber;
    const times = [this.readBlockTime(mined.receipt, deadlineMs), this.blockTimes.readNewest(deadlineMs)] as const;
    const [minedAtMs, newestAtMs] = await Promise.all(times);
    return newestAtMs - minedAtMs < LAGGING_MS ? headBlockNumber : undefined;
  }
}

function readSighting(txHash: Hex, results: readonly RpcResult[], head: number): Sighting {
  const receipt = parseReceipt(valueOf(results[0], 'eth_getTransactionReceipt'), txHash);
  const transaction = parseTransaction(valueOf(results[1], 'eth_getTransactionByHash'), txHash);
  if (receipt === null) return { mined: null, headBlockNumber: head };
  // Servers behind one load balancer may be a block apart, and a block may be replaced between the two calls.
  if (transaction?.blockHash !== receipt.blockHash) {
    throw new ChainUnavailableError('rpc_inconsistent', 'The receipt and the transaction name different blocks.');
  }
  const { input, to } = transaction;
  return { mined: { receipt, input, to }, headBlockNumber: Math.max(head, receipt.blockNumber) };
}

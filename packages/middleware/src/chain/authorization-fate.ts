import {
  AUTHORIZATION_CANCELED,
  AUTHORIZATION_USED,
  AuthorizedTransfers,
  isRecord,
  type EmittedLog,
  type Hex,
  type PromisedTransfer,
} from '@tollgate/protocol';

import { RpcError, RpcServer } from './rpc-server.js';

/** What the chain shows of an authorization. */
export type Fate =
  /** It moved the promised amount to the recipient, in this transaction. */
  | { readonly outcome: 'paid'; readonly txHash: Hex }
  /** It moved nothing to the recipient, and never will. */
  | { readonly outcome: 'void'; readonly reason: 'expired' | 'cancelled' | 'used_otherwise' }
  /** Neither is certain yet. */
  | { readonly outcome: 'open' };

export interface AuthorizationChainOptions {
  rpcUrl: string;
  chainId: number;
  /** How many blocks, with its own, a transaction needs to count. */
  confirmations: number;
}

/** `authorizationState(address,bytes32)` (EIP-3009) */
const AUTHORIZATION_STATE = '0xe94a0102';
const TIMEOUT_MS = 10_000;
/** Blocks of one search at first; a server that refuses gets half of them. */
const MOST_BLOCKS = 2_000;
/** Requests of one search: between a payment and its last moment lie some minutes, seldom more blocks than this finds. */
const MOST_SEARCHES = 200;
const OPEN: Fate = { outcome: 'open' };

/**
 * Reads from the chain whether an EIP-3009 authorization has paid. A server that lags behind is never evidence: what it
 * does not show is `open`.
 */
export class AuthorizationChain {
  readonly #server: RpcServer;
  #isRightChain = false;
  #blocksPerSearch = MOST_BLOCKS;

  constructor(private readonly options: AuthorizationChainOptions) {
    this.#server = new RpcServer(options.rpcUrl, TIMEOUT_MS);
  }

  /**
   * The newest block, and whether the nonce was taken in it. What takes a nonce that was free is in a later block.
   * @throws RpcError
   */
  async readStart(asset: Hex, from: Hex, nonce: Hex): Promise<{ readonly block: number; readonly isTaken: boolean }> {
    await this.#assertChain();
    const block = readNumber(await this.#server.ask('eth_blockNumber'));
    return { block, isTaken: await this.#isTaken(asset, from, nonce, block) };
  }

  /**
   * @param sinceBlock the nonce was free in it
   * @throws RpcError
   */
  async readFate(promised: PromisedTransfer, sinceBlock: number): Promise<Fate> {
    await this.#assertChain();
    const { asset, authorization } = promised;
    const head = readNumber(await this.#server.ask('eth_blockNumber'));
    const lastBlock = head - this.options.confirmations + 1;
    if (lastBlock <= sinceBlock) return OPEN;
    const { from, nonce, validBefore } = authorization;
    if (!(await this.#isTaken(asset, from, nonce, lastBlock))) {
      // The token takes it only in a block before `validBefore`.
      const isOver = (await this.#readTime(lastBlock)) >= BigInt(validBefore);
      return isOver ? { outcome: 'void', reason: 'expired' } : OPEN;
    }
    const log = await this.#findUse(promised, sinceBlock + 1, lastBlock);
    if (log === null) return OPEN;
    if (log.topics[0] === AUTHORIZATION_CANCELED) return { outcome: 'void', reason: 'cancelled' };
    const receipt = await this.#server.ask('eth_getTransactionReceipt', log.txHash);
    if (!isRecord(receipt) || !Array.isArray(receipt['logs'])) return OPEN;
    const logs = receipt['logs'].map(readLog);
    return new AuthorizedTransfers(logs).include(promised)
      ? { outcome: 'paid', txHash: log.txHash }
      : { outcome: 'void', reason: 'used_otherwise' };
  }

  /** The log of the transaction that took the nonce; null where the server shows none. */
  async #findUse(
    { asset, authorization: { from, nonce } }: PromisedTransfer,
    firstBlock: number,
    lastBlock: number,
  ): Promise<FoundLog | null> {
    const topics = [[AUTHORIZATION_USED, AUTHORIZATION_CANCELED], `0x${toWord(from)}`, nonce];
    let next = firstBlock;
    for (let searches = 0; next <= lastBlock && searches < MOST_SEARCHES; searches++) {
      const last = Math.min(lastBlock, next + this.#blocksPerSearch - 1);
      const range = { address: asset, topics, fromBlock: toQuantity(next), toBlock: toQuantity(last) };
      try {
        const logs = await this.#server.ask('eth_getLogs', range);
        if (!Array.isArray(logs)) throw new RpcError('The RPC server answers eth_getLogs without a list.', false);
        const [log] = logs as unknown[];
        if (log !== undefined) return { ...readLog(log), txHash: readHash(log) };
        next = last + 1;
      } catch (error) {
        if (!(error instanceof RpcError && error.isRefused) || this.#blocksPerSearch === 1) throw error;
        this.#blocksPerSearch = Math.ceil(this.#blocksPerSearch / 2);
      }
    }
    return null;
  }

  async #isTaken(asset: Hex, from: Hex, nonce: Hex, block: number): Promise<boolean> {
    const data = `${AUTHORIZATION_STATE}${toWord(from)}${nonce.slice(2)}`;
    const result = await this.#server.ask('eth_call', { to: asset, data }, toQuantity(block));
    if (typeof result !== 'string' || !/^0x[0-9a-f]{64}$/i.test(result))
      throw new RpcError('The asset does not say whether an authorization is used.', false);
    return BigInt(result) !== 0n;
  }

  /** The time of a block, in Unix seconds. */
  async #readTime(block: number): Promise<bigint> {
    const read = await this.#server.ask('eth_getBlockByNumber', toQuantity(block), false);
    const time = isRecord(read) ? read['timestamp'] : undefined;
    if (typeof time !== 'string' || !QUANTITY.test(time)) throw new RpcError('The RPC server lacks a block.', false);
    return BigInt(time);
  }

  /** Of another chain, each nonce would be free for ever. */
  async #assertChain(): Promise<void> {
    if (this.#isRightChain) return;
    const chainId = readNumber(await this.#server.ask('eth_chainId'));
    const { chainId: expected } = this.options;
    if (chainId !== expected) throw new RpcError(`rpcUrl is of chain ${chainId}, and chainId is ${expected}.`, false);
    this.#isRightChain = true;
  }
}

type FoundLog = EmittedLog & { readonly txHash: Hex };

const QUANTITY = /^0x[0-9a-f]+$/i;

function readNumber(value: unknown): number {
  const number = typeof value === 'string' && QUANTITY.test(value) ? Number(value) : Number.NaN;
  if (!Number.isSafeInteger(number))
    throw new RpcError('The RPC server answers with something else than a number.', false);
  return number;
}

function readLog(value: unknown): EmittedLog {
  const { address, topics, data } = Object(value) as Record<string, unknown>;
  if (typeof address !== 'string' || !Array.isArray(topics) || typeof data !== 'string')
    throw new RpcError('The RPC server answers with something else than a log.', false);
  const lower = (text: unknown): Hex => String(text).toLowerCase() as Hex;
  return { address: lower(address), topics: topics.map(lower), data: lower(data) };
}

function readHash(value: unknown): Hex {
  return String((Object(value) as Record<string, unknown>)['transactionHash']).toLowerCase() as Hex;
}

function toWord(address: Hex): string {
  return address.slice(2).toLowerCase().padStart(64, '0');
}

function toQuantity(number: number): string {
  return `0x${number.toString(16)}`;
}

import { isHttpUrl, PaymentError, type Hex } from '@tollgate/protocol';
import {
  BaseError,
  keccak256,
  TransactionNotFoundError,
  TransactionReceiptNotFoundError,
  type LocalAccount,
  type TransactionSerializable,
} from 'viem';
import { privateKeyToAccount } from 'viem/accounts';

import { createRpcClient } from '../network/rpc-client.js';
import { createWalletUnavailable, findRefusal, readDetails, shortenCause } from '../network/rpc-failure.js';
import type { SignedTransaction } from '../store/payment-store.js';
import {
  createAuthorizationSigner,
  createPermitSigner,
  type AuthorizationSigner,
  type PermitSigner,
} from './typed-data-signers.js';

/** Signing, sending and waiting are separate, so that the signed bytes can be stored before they are sent. */
export interface Wallet {
  readonly address: Hex;
  readonly chainId: number;
  /**
   * Runs one task at a time. Everything from signing to sending belongs into one task: a second transaction signed in
   * between would get the same nonce.
   */
  inTurn<T>(work: () => Promise<T>): Promise<T>;
  /** Signs a call with the next nonce; sends nothing. */
  sign(call: { to: Hex; data: Hex }): Promise<SignedTransaction>;
  /** Sends these bytes; also succeeds when the chain already has them. */
  broadcast(transaction: SignedTransaction): Promise<void>;
  /** The outcome of a transaction; null while it is not mined. */
  readOutcome(txHash: Hex): Promise<'success' | 'failed' | null>;
  /** True when a final block has a transaction with this nonce of the payer, who may have another wallet. */
  isNonceUsed(payer: Hex, nonce: number): Promise<boolean>;
  /** Without it, offers that require a signed EIP-3009 authorization are not paid. */
  readonly authorizations?: AuthorizationSigner;
  /** Without it, offers by Permit2, including those that charge by use, are not paid. */
  readonly permits?: PermitSigner;
}

export interface WalletOptions {
  /** The payer: a private key, or any viem account that signs locally. */
  account: Hex | LocalAccount;
  rpcUrl: string;
  chainId: number;
  /** Time limit for an answer of the chain, which is asked twice if it gives none; 10 s. */
  rpcTimeoutMs?: number;
}

// How long our own nonce count takes precedence over that of an RPC node that has not seen our last transaction yet.
const NONCE_MEMORY_MS = 30_000;

/**
 * A wallet over viem and JSON-RPC. The key stays in memory and is never part of an error.
 * @throws PaymentError `invalid_options` for an invalid key, URL or chain id.
 */
export function createWallet(options: WalletOptions): Wallet {
  const { rpcUrl, chainId, rpcTimeoutMs = 10_000 } = options;
  assertHttpUrl(rpcUrl);
  assertChainId(chainId);
  // An unset variable arrives here as undefined, despite the type.
  const account = typeof options.account === 'object' ? options.account : readAccount(options.account);
  return new RpcWallet(account, chainId, createRpcClient(rpcUrl, chainId, rpcTimeoutMs));
}

/** Not quoted: even an invalid URL may contain an API key. */
function assertHttpUrl(rpcUrl: string): void {
  if (isHttpUrl(rpcUrl)) return;
  throw new PaymentError('invalid_options', 'The URL of the RPC server is not an http or https URL.', {
    hint: 'Give the whole URL, for example http://127.0.0.1:8545.',
  });
}

/** With a value of another type the chain would match no asset. */
function assertChainId(chainId: unknown): void {
  if (typeof chainId === 'number' && Number.isSafeInteger(chainId) && chainId > 0) return;
  throw new PaymentError('invalid_options', 'chainId is not a whole number above 0.', {
    hint: 'Convert text from the environment to a number, for example with Number(process.env.CHAIN_ID).',
  });
}

/** Without the cause, whose text may quote the key. */
function readAccount(privateKey: Hex): LocalAccount {
  try {
    return privateKeyToAccount(privateKey);
  } catch {
    throw new PaymentError('invalid_options', 'The private key is not a valid secp256k1 key.', {
      hint: 'Give 32 bytes in hexadecimal, with the prefix 0x.',
    });
  }
}

class RpcWallet implements Wallet {
  readonly address: Hex;
  readonly authorizations: AuthorizationSigner;
  readonly permits: PermitSigner;
  readonly #account: LocalAccount;
  readonly #client: ReturnType<typeof createRpcClient>;
  #lane: Promise<unknown> = Promise.resolve();
  #isChainChecked = false;
  #lastSent = { nonce: -1, atMs: 0 };

  constructor(
    account: LocalAccount,
    readonly chainId: number,
    client: ReturnType<typeof createRpcClient>,
  ) {
    this.#account = account;
    this.address = account.address;
    this.#client = client;
    this.authorizations = createAuthorizationSigner(account, client, chainId);
    this.permits = createPermitSigner(account, client, chainId);
  }

  inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = this.#lane.then(work);
    this.#lane = turn.catch(() => undefined);
    return turn;
  }

  async sign({ to, data }: { to: Hex; data: Hex }): Promise<SignedTransaction> {
    try {
      await this.#assertChain();
      const nonce = await this.#nextNonce();
      const request = await this.#client.prepareTransactionRequest({ account: this.#account, to, data, nonce });
      const { gas, type, gasPrice, maxFeePerGas, maxPriorityFeePerGas } = request;
      const fees = type === 'eip1559' ? { type, maxFeePerGas, maxPriorityFeePerGas } : { type: 'legacy', gasPrice };
      const transaction = { chainId: this.chainId, to, data, nonce, gas, ...fees } as TransactionSerializable;
      const rawTransaction = await this.#account.signTransaction(transaction);
      return { txHash: keccak256(rawTransaction), rawTransaction, nonce };
    } catch (error) {
      throw explain(error, 'cannot_pay', 'The wallet cannot make this transfer');
    }
  }

  async broadcast(transaction: SignedTransaction): Promise<void> {
    try {
      await this.#client.sendRawTransaction({ serializedTransaction: transaction.rawTransaction });
    } catch (error) {
      // Nodes report "already known" in a dozen ways, and a time-out leaves the outcome open: look for the transaction.
      if (!(await this.#isKnown(transaction.txHash))) {
        throw explain(error, 'broadcast_refused', `The chain refused the transaction ${transaction.txHash}`);
      }
    }
    if (transaction.nonce > this.#lastSent.nonce) this.#lastSent = { nonce: transaction.nonce, atMs: Date.now() };
  }

  async readOutcome(txHash: Hex): Promise<'success' | 'failed' | null> {
    try {
      const { status } = await this.#client.getTransactionReceipt({ hash: txHash });
      return status === 'success' ? 'success' : 'failed';
    } catch (error) {
      if (error instanceof TransactionReceiptNotFoundError) return null;
      throw explain(error, 'wallet_unavailable', 'The receipt cannot be read');
    }
  }

  async isNonceUsed(payer: Hex, nonce: number): Promise<boolean> {
    try {
      return (await this.#client.getTransactionCount({ address: payer, blockTag: 'finalized' })) > nonce;
    } catch (error) {
      throw explain(error, 'wallet_unavailable', 'The nonce cannot be read');
    }
  }

  async #assertChain(): Promise<void> {
    if (this.#isChainChecked) return;
    const actual = await this.#client.getChainId();
    if (actual !== this.chainId) {
      throw new PaymentError('wrong_chain', `The RPC endpoint is on chain ${actual}, the wallet on ${this.chainId}.`, {
        hint: 'Give the RPC endpoint of the chain you pay on.',
      });
    }
    this.#isChainChecked = true;
  }

  async #nextNonce(): Promise<number> {
    const pending = await this.#client.getTransactionCount({ address: this.address, blockTag: 'pending' });
    const isFresh = Date.now() - this.#lastSent.atMs < NONCE_MEMORY_MS;
    return isFresh ? Math.max(pending, this.#lastSent.nonce + 1) : pending;
  }

  async #isKnown(txHash: Hex): Promise<boolean> {
    try {
      await this.#client.getTransaction({ hash: txHash });
      return true;
    } catch (error) {
      if (error instanceof TransactionNotFoundError) return false;
      throw explain(error, 'wallet_unavailable', 'The transaction cannot be read');
    }
  }
}

/** The node's refusal with the given `code`; `wallet_unavailable`, which may be tried again, if there was no answer. */
function explain(error: unknown, code: 'cannot_pay' | 'broadcast_refused' | 'wallet_unavailable', what: string): Error {
  if (error instanceof PaymentError || !(error instanceof BaseError)) return error as Error;
  // Some messages already end in a full stop.
  const why = `${what}: ${readDetails(error).replace(/\.$/, '')}.`;
  return findRefusal(error)
    ? new PaymentError(code, why, {
        hint: 'Check the balance, fees and nonce of the payer.',
        cause: shortenCause(error),
      })
    : createWalletUnavailable(error, why);
}

import { isHttpUrl, PaymentError, type Hex } from '@tollgate/protocol';
import type { LocalAccount } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';

import { createRpcClient, createRpcTransport, joinTransports } from '../network/rpc-client.js';
import { findAccountMemory } from './account-memory.js';
import { POLLING } from './poll-receipt.js';
import { readFromBlock, type PollLimits } from './read-at-block.js';
import { RpcAccount } from './rpc-account.js';
import type { Account } from './wallet.js';

export interface WalletOptions {
  /** The payer: a private key, or any viem account that signs locally. */
  account: Hex | LocalAccount;
  rpcUrl: string;
  /** Asked in this order when the first does not answer; signed bytes go to one after the other until one accepts them. */
  otherRpcUrls?: readonly string[];
  chainId: number;
  /** Time limit for an answer of the chain, which is asked twice if it gives none; 10 s. */
  rpcTimeoutMs?: number;
  /** How long a transaction is followed, and a node that is behind is asked again; 30 look-ups, 1000 ms apart. */
  patience?: PollLimits;
}

/**
 * An account over viem and JSON-RPC. The key stays in memory and is never part of an error. All accounts of this process
 * with one address and RPC server take turns, and know of each other's nonces.
 * @throws PaymentError `invalid_options` for an invalid key, URL or chain id.
 */
export function createWallet(options: WalletOptions): Account {
  const { rpcUrl, otherRpcUrls = [], chainId, rpcTimeoutMs: timeout = 10_000, patience = POLLING } = options;
  const urls = [rpcUrl, ...otherRpcUrls];
  urls.forEach(assertHttpUrl);
  assertChainId(chainId);
  // An unset variable arrives here as undefined, despite the type.
  const signer = typeof options.account === 'object' ? options.account : readAccount(options.account);
  const memory = findAccountMemory(rpcUrl, signer.address);
  const reads = joinTransports(urls.map((url) => createRpcTransport(url, { timeout, retryCount: 1 })));
  return new RpcAccount({
    signer,
    chainId,
    memory,
    patience,
    chain: createRpcClient(chainId, reads),
    state: createRpcClient(
      chainId,
      readFromBlock(reads, () => memory.floor, patience),
    ),
    servers: urls.map((url) => createRpcClient(chainId, createRpcTransport(url, { timeout, retryCount: 0 }))),
  });
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

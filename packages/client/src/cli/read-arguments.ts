import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { isAddress, isHash, isHttpUrl, isRecord, type Hex } from '@tollgate/protocol';
import { InvalidArgumentError } from 'commander';

import type { WalletOptions } from '../account/create-wallet.js';
import type { Wallet } from '../account/wallet.js';
import { createAllowances } from '../methods/registry.js';
import { readSystemCode } from '../network/read-system-code.js';
import type { PaymentOptions } from '../sign/payment-options.js';
import { FilePaymentStore } from '../store/file-payment-store.js';
import { findStateDirectory, openPayerStore } from '../store/open-payment-store.js';
import type { PaymentStore } from '../store/payment-store.js';
import { explainMissingDevnet, stateDirectory } from './dev-place.js';
import {
  addAssets,
  usualNetworkOf,
  readAddress,
  readAmount,
  readDecimals,
  readNumber,
  readRpcUrl,
  type PayingAssets,
} from './read-assets.js';

/** The options of the command as they are typed. */
export interface PayOptions {
  max?: string;
  network?: string;
  chainId?: string;
  asset?: string;
  decimals?: string;
  payTo?: string;
  also?: string[];
  approve?: string;
  rpc?: string;
  rpcTimeout?: string;
  keyEnv?: string;
  dev?: boolean;
  method?: string;
  header?: string[];
  body?: string;
  idempotencyKey?: string;
  store?: string;
  timeout?: string;
  insecure?: boolean;
  abandon?: boolean;
  json?: boolean;
}

interface WalletSource extends PayingAssets {
  privateKey: Hex;
}

export interface PayArguments {
  url: string;
  init: RequestInit;
  /** One a chain. */
  wallets: readonly WalletOptions[];
  options: PaymentOptions;
  openStore: (payer: Wallet) => PaymentStore;
  isAbandoning: boolean;
  writesJson: boolean;
}

/** 32 bytes. */
const isPrivateKey = isHash;

/** In milliseconds. With no time at all nothing could be done. */
function readSeconds(text: string, name: string): number {
  const seconds = readNumber(text, `--${name}`);
  if (seconds === 0) throw new InvalidArgumentError(`--${name} is not a whole number above 0`);
  return seconds * 1000;
}

function readWallet(values: PayOptions, env: NodeJS.ProcessEnv): WalletSource {
  if (values.dev) return readDevnet(values, env);
  const keyName = values.keyEnv ?? 'WALLET_PRIVATE_KEY';
  const key = env[keyName];
  const privateKey = key?.startsWith('0x') === false ? `0x${key}` : key;
  if (values.rpc === undefined) throw new InvalidArgumentError('--rpc is missing (or --dev)');
  if (!isPrivateKey(privateKey)) throw new InvalidArgumentError(`${keyName} does not hold a private key of 32 bytes`);
  const chainId = readNumber(values.chainId ?? '1328', '--chain-id');
  const asset = {
    // A gate with several chains must not have that name taken for another one.
    network: values.network ?? (values.chainId === undefined ? 'chain-testnet' : usualNetworkOf(chainId)),
    chainId,
    address: readAddress(values.asset ?? '0x4fCF1784B31630811181f670Aea7A7bEF803eaED', '--asset'),
    decimals: readDecimals(values.decimals ?? '6', '--decimals'),
    ...(values.payTo === undefined ? {} : { payTo: readAddress(values.payTo, '--pay-to') }),
  };
  return { privateKey, chains: [{ chainId, rpcUrl: readRpcUrl(values.rpc, '--rpc') }], assets: [asset] };
}

/** The options that `--dev` replaces by the devnet's values. */
const OF_THE_DEVNET = { network: '--network', chainId: '--chain-id', asset: '--asset', keyEnv: '--key-env' } as const;

/** The devnet writes this file for its tools; it is trusted, but may be of another checkout. */
function readDevnet(values: PayOptions, env: NodeJS.ProcessEnv): WalletSource {
  const contradicting = Object.entries(OF_THE_DEVNET).flatMap(([name, flag]) =>
    values[name as keyof typeof OF_THE_DEVNET] === undefined ? [] : [flag],
  );
  if (contradicting.length > 0) {
    throw new InvalidArgumentError(
      `--dev takes chain, token and account from the running devnet: leave it out, or ${contradicting.join(', ')}`,
    );
  }
  const missing = explainMissingDevnet(env);
  if (missing !== null) throw new InvalidArgumentError(missing);
  const path = join(stateDirectory(env), 'dev.json');
  let state: Partial<Record<string, unknown>>;
  try {
    state = JSON.parse(readFileSync(path, 'utf8')) as Partial<Record<string, unknown>>;
  } catch {
    throw new InvalidArgumentError(`${path} does not describe a devnet`);
  }
  const { payTo, accounts, secondChain } = state;
  const privateKey: unknown = Array.isArray(accounts)
    ? (accounts[0] as { privateKey?: unknown }).privateKey
    : undefined;
  if (!isAddress(payTo) || !isPrivateKey(privateKey))
    throw new InvalidArgumentError(`${path} does not describe a devnet`);
  const decimals = readDecimals(values.decimals ?? '6', '--decimals');
  const recipient = readAddress(values.payTo ?? payTo, '--pay-to');
  const described = [state, ...(isRecord(secondChain) ? [secondChain] : [])].map((one) => {
    const { rpcUrl, chainId, network, asset } = one;
    const isNamed = typeof rpcUrl === 'string' && typeof chainId === 'number' && typeof network === 'string';
    if (!isNamed || !isAddress(asset)) throw new InvalidArgumentError(`${path} does not describe a devnet`);
    return { chain: { chainId, rpcUrl }, asset: { network, chainId, address: asset, decimals, payTo: recipient } };
  });
  const chains = described.map(({ chain }) => chain);
  if (values.rpc !== undefined && chains[0]) chains[0].rpcUrl = readRpcUrl(values.rpc, '--rpc');
  return { privateKey, chains, assets: described.map(({ asset }) => asset) };
}

/** Not quoted: a line without its colon may be a password. */
function addHeader(headers: Headers, [name, value]: readonly [string, string], option: string): void {
  try {
    headers.append(name, value);
  } catch {
    throw new InvalidArgumentError(`${option} cannot be sent in a header`);
  }
}

function readHeaders({ header = [], idempotencyKey }: PayOptions): Headers {
  const headers = new Headers();
  for (const [index, line] of header.entries()) {
    const option = header.length === 1 ? '--header' : `--header number ${index + 1}`;
    const colon = line.indexOf(':');
    if (colon < 1) throw new InvalidArgumentError(`${option} is not 'Name: value'`);
    addHeader(headers, [line.slice(0, colon).trim(), line.slice(colon + 1).trim()], option);
  }
  if (idempotencyKey !== undefined) {
    headers.delete('Idempotency-Key');
    addHeader(headers, ['Idempotency-Key', idempotencyKey], '--idempotency-key');
  }
  return headers;
}

function readBody(text: string): string | Uint8Array<ArrayBuffer> {
  if (!text.startsWith('@')) return text;
  try {
    return new Uint8Array(readFileSync(text.slice(1)));
  } catch (error) {
    throw new InvalidArgumentError(`--body: the file cannot be read (${readSystemCode(error)}): ${text.slice(1)}`);
  }
}

function readRequest(values: PayOptions): RequestInit {
  const { body, method = body === undefined ? 'GET' : 'POST' } = values;
  return { method, headers: readHeaders(values), ...(body !== undefined && { body: readBody(body) }) };
}

/** @throws InvalidArgumentError, which quotes neither a key, an RPC URL nor a header */
export function readArguments(url: string, values: PayOptions, env: NodeJS.ProcessEnv): PayArguments {
  if (!isHttpUrl(url)) throw new InvalidArgumentError(`${JSON.stringify(url)} is not a URL of http or https`);
  if (values.max === undefined && !values.abandon) throw new InvalidArgumentError('--max is missing');
  const { privateKey: account, ...source } = readWallet(values, env);
  const decimals = source.assets[0]?.decimals ?? 0;
  const { chains, assets } = addAssets(source, values.also ?? []);
  const rpcTimeoutMs = readSeconds(values.rpcTimeout ?? '3', 'rpc-timeout');
  return {
    url,
    init: readRequest(values),
    options: {
      assets,
      maxAmount: readAmount(values.max ?? '0', '--max', decimals),
      ...(values.approve !== undefined && createAllowances(readAmount(values.approve, '--approve', decimals))),
      deadlineMs: readSeconds(values.timeout ?? '60', 'timeout'),
      allowInsecureHttp: values.insecure ?? false,
    },
    wallets: chains.map((chain) => ({ account, ...chain, rpcTimeoutMs })),
    openStore: (payer) =>
      values.store === undefined
        ? openPayerStore(values.dev ? stateDirectory(env) : findStateDirectory(env), payer)
        : new FilePaymentStore(values.store),
    isAbandoning: values.abandon ?? false,
    writesJson: values.json ?? false,
  };
}

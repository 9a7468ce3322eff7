import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

import { isAddress, isHttpUrl, parseTokenAmount, PaymentError, type Hex } from '@tollgate/protocol';

import type { TrustedAsset } from '../choose-requirement.js';

export const USAGE = `Usage: pay URL --max AMOUNT [options]

Asks for URL, pays the 402 challenge once, and writes the answer's body to stdout; where there is no challenge,
nothing is paid. Progress goes to stderr.
A payment that got no answer stays in the store: the same command again redeems it and does not pay twice.

What to pay:
  --max AMOUNT           most to pay, in units of the token, e.g. 0.01 (required)
  --network NAME         trusted network name (default chain-testnet)
  --chain-id ID          its chain id (default 1328)
  --asset ADDRESS        trusted token (default 0x4fCF1784B31630811181f670Aea7A7bEF803eaED, USDC)
  --decimals N           the token's decimals (default 6)
  --pay-to ADDRESS       pay this recipient only
  --approve AMOUNT       let Permit2 move as much of the token, by a transaction of its own, where a payment by Permit2
                         needs it; what is metered is paid so, with --max as the most that is signed. Without it, and
                         without an allowance, the full price of what is metered is paid
Wallet:
  --rpc URL              JSON-RPC endpoint of the chain
  --rpc-timeout SECONDS  longest wait for an answer of it, which is asked twice (default 3)
  --key-env NAME         environment variable with the private key (default WALLET_PRIVATE_KEY)
  --dev                  take endpoint, chain, token and an account from the running devnet (its dev.json), and
                         pay its gateway's recipient only, or that of --pay-to; not with --network, --chain-id,
                         --asset or --key-env
Request:
  --method METHOD        default GET, or POST with a body
  --header 'Name: value' may be repeated
  --body TEXT            or @FILE
  --idempotency-key KEY  names the purchase: a repeat gets the same answer and never pays again
Behaviour:
  --store DIR            where payments are kept (default payments in TOLLGATE_STATE_DIR)
  --timeout SECONDS      from the payment to the answer (default 60)
  --insecure             pay over plain HTTP to other machines too
  --abandon              give up the stored payment of this request, and pay nothing
  --help

  TOLLGATE_STATE_DIR     where payments are kept, and where a running devnet is found (default .tollgate)

Exit codes: 0 answered; 1 unexpected error; 2 wrong usage; 3 nothing was paid; 4 paid, but no answer yet: run it
again; 5 answered with a status of 400 or more: the last line says whether the payment is still good.
`;

/** The command line does not say what to do. */
export class UsageError extends Error {}

export interface PayArguments {
  url: string;
  init: RequestInit;
  maxAmount: string;
  permit2Allowance?: string;
  asset: TrustedAsset;
  rpcUrl: string;
  rpcTimeoutMs: number;
  privateKey: Hex;
  storeDirectory: string;
  deadlineMs: number;
  allowInsecureHttp: boolean;
  isAbandoning: boolean;
}

const OPTIONS = {
  max: { type: 'string' },
  network: { type: 'string' },
  'chain-id': { type: 'string' },
  asset: { type: 'string' },
  decimals: { type: 'string' },
  'pay-to': { type: 'string' },
  approve: { type: 'string' },
  rpc: { type: 'string' },
  'rpc-timeout': { type: 'string' },
  'key-env': { type: 'string' },
  dev: { type: 'boolean' },
  method: { type: 'string' },
  header: { type: 'string', multiple: true },
  body: { type: 'string' },
  'idempotency-key': { type: 'string' },
  store: { type: 'string' },
  timeout: { type: 'string' },
  insecure: { type: 'boolean' },
  abandon: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const;

type Values = ReturnType<typeof parse>['values'];

function parse(argv: readonly string[]) {
  try {
    return parseArgs({ args: [...argv], options: OPTIONS, allowPositionals: true });
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error));
  }
}

interface WalletSource {
  rpcUrl: string;
  privateKey: Hex;
  asset: TrustedAsset;
}

const isPrivateKey = (value: unknown): value is Hex => typeof value === 'string' && /^0x[0-9a-fA-F]{64}$/.test(value);

function readNumber(text: string, name: string): number {
  if (!/^[0-9]{1,15}$/.test(text)) throw new UsageError(`--${name} is not a whole number`);
  return Number(text);
}

/** As it was typed: the library counts the base units itself. */
function readAmount(text: string, name: string, decimals: number): string {
  try {
    parseTokenAmount(text, decimals);
  } catch (error) {
    if (!(error instanceof PaymentError)) throw error;
    throw new UsageError(`--${name}: ${[error.message, error.hint].join(' ')}`);
  }
  return text;
}

function readDecimals({ decimals = '6' }: Values): number {
  const number = readNumber(decimals, 'decimals');
  if (number > 255) throw new UsageError('--decimals is above 255');
  return number;
}

/** Not quoted: what is no URL may still hold the key of one. */
function readRpcUrl(text: string): string {
  if (isHttpUrl(text)) return text;
  throw new UsageError('--rpc is not a URL of http or https, such as http://127.0.0.1:8545');
}

function readAddress(text: string, name: string): Hex {
  if (!isAddress(text)) throw new UsageError(`--${name} is not an address`);
  return text;
}

function readWallet(values: Values, env: NodeJS.ProcessEnv): WalletSource {
  if (values.dev) return readDevnet(values, env);
  const keyName = values['key-env'] ?? 'WALLET_PRIVATE_KEY';
  const key = env[keyName];
  const privateKey = key?.startsWith('0x') === false ? `0x${key}` : key;
  if (values.rpc === undefined) throw new UsageError('--rpc is missing (or --dev)');
  if (!isPrivateKey(privateKey)) throw new UsageError(`${keyName} does not hold a private key of 32 bytes`);
  return {
    rpcUrl: readRpcUrl(values.rpc),
    privateKey,
    asset: {
      network: values.network ?? 'chain-testnet',
      chainId: readNumber(values['chain-id'] ?? '1328', 'chain-id'),
      address: readAddress(values.asset ?? '0x4fCF1784B31630811181f670Aea7A7bEF803eaED', 'asset'),
      decimals: readDecimals(values),
      ...(values['pay-to'] === undefined ? {} : { payTo: readAddress(values['pay-to'], 'pay-to') }),
    },
  };
}

/** What `--dev` takes from the devnet, whatever is said of it. */
const OF_THE_DEVNET = ['network', 'chain-id', 'asset', 'key-env'] as const;

const stateDirectory = (env: NodeJS.ProcessEnv): string => env['TOLLGATE_STATE_DIR'] || '.tollgate';

/** The devnet writes this file for its tools; it is ours and on this machine, but may be of another version. */
function readDevnet(values: Values, env: NodeJS.ProcessEnv): WalletSource {
  const contradicting = OF_THE_DEVNET.filter((name) => values[name] !== undefined).map((name) => `--${name}`);
  if (contradicting.length > 0) {
    throw new UsageError(
      `--dev takes chain, token and account from the running devnet: leave it out, or ${contradicting.join(', ')}`,
    );
  }
  const path = join(stateDirectory(env), 'dev.json');
  let state: Partial<Record<string, unknown>>;
  try {
    state = JSON.parse(readFileSync(path, 'utf8')) as Partial<Record<string, unknown>>;
  } catch {
    throw new UsageError(`${path} cannot be read: is the devnet running (npm run dev)?`);
  }
  const { rpcUrl, chainId, network, asset, payTo, accounts } = state;
  const privateKey: unknown = Array.isArray(accounts)
    ? (accounts[0] as { privateKey?: unknown }).privateKey
    : undefined;
  if (typeof rpcUrl !== 'string' || typeof chainId !== 'number' || typeof network !== 'string') {
    throw new UsageError(`${path} does not describe a devnet`);
  }
  if (!isAddress(asset) || !isAddress(payTo) || !isPrivateKey(privateKey)) {
    throw new UsageError(`${path} does not describe a devnet`);
  }
  const decimals = readDecimals(values);
  const recipient = readAddress(values['pay-to'] ?? payTo, 'pay-to');
  const trusted = { network, chainId, address: asset, decimals, payTo: recipient };
  return { rpcUrl: values.rpc === undefined ? rpcUrl : readRpcUrl(values.rpc), privateKey, asset: trusted };
}

function readRequest(values: Values): RequestInit {
  const headers = new Headers();
  for (const line of values.header ?? []) {
    const colon = line.indexOf(':');
    if (colon < 1) throw new UsageError(`--header ${JSON.stringify(line)} is not 'Name: value'`);
    headers.append(line.slice(0, colon).trim(), line.slice(colon + 1).trim());
  }
  if (values['idempotency-key'] !== undefined) headers.set('Idempotency-Key', values['idempotency-key']);
  const { body } = values;
  return {
    method: values.method ?? (body === undefined ? 'GET' : 'POST'),
    headers,
    ...(body === undefined ? {} : { body: body.startsWith('@') ? new Uint8Array(readFileSync(body.slice(1))) : body }),
  };
}

/**
 * Reads the command line; null when help was asked for.
 * @throws UsageError
 */
export function readArguments(argv: readonly string[], env: NodeJS.ProcessEnv): PayArguments | null {
  const { values, positionals } = parse(argv);
  if (values.help) return null;
  const [url, ...more] = positionals;
  if (url === undefined || more.length > 0) throw new UsageError('give exactly one URL');
  if (!isHttpUrl(url)) throw new UsageError(`${JSON.stringify(url)} is not a URL of http or https`);
  if (values.max === undefined && !values.abandon) throw new UsageError('--max is missing');
  const wallet = readWallet(values, env);
  const { decimals } = wallet.asset;
  return {
    url,
    init: readRequest(values),
    maxAmount: readAmount(values.max ?? '0', 'max', decimals),
    ...(values.approve !== undefined && { permit2Allowance: readAmount(values.approve, 'approve', decimals) }),
    ...wallet,
    rpcTimeoutMs: readNumber(values['rpc-timeout'] ?? '3', 'rpc-timeout') * 1000,
    storeDirectory: values.store ?? join(stateDirectory(env), 'payments'),
    deadlineMs: readNumber(values.timeout ?? '60', 'timeout') * 1000,
    allowInsecureHttp: values.insecure ?? false,
    isAbandoning: values.abandon ?? false,
  };
}

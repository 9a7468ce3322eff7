import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

import type { SpendingPolicy } from '@tollgate/agent-kit';
import { createLaneId, readKeySigner, type LaneSigner } from '@tollgate/journal';
import { parse } from 'yaml';
import { z } from 'zod';

import { decryptKeystore, KeystoreError } from './decrypt-keystore.js';
import type { WorkerWallet } from './worker-wallet.js';

export interface WalletSources {
  walletPrivateKey?: string;
  policyFile?: string;
  walletsFile?: string;
}

/** The wallet whose key is set in the environment. */
const MAIN = 'main';

/**
 * Opens every wallet in the settings.
 * @param problems collects every problem, one sentence each, without any secret value
 */
export function openWallets(sources: WalletSources, problems: string[]): OpenedWallet[] {
  const { walletPrivateKey, walletsFile, policyFile } = sources;
  if (walletPrivateKey === undefined && walletsFile === undefined) {
    problems.push('WALLET_PRIVATE_KEY or WALLETS_FILE must be set: a worker signs for at least one wallet.');
  }
  if (walletPrivateKey === undefined && policyFile !== undefined) {
    problems.push('POLICY_FILE is the policy of the wallet in WALLET_PRIVATE_KEY, which is not set.');
  }
  const main = walletPrivateKey === undefined ? [] : openMain(walletPrivateKey, policyFile, problems);
  const others = walletsFile === undefined ? [] : readWalletsFile(walletsFile, problems);
  const wallets = [...main, ...others];
  reportDoubles(wallets, problems);
  return wallets;
}

/** The wallets, each with its lane. */
export function onChain(wallets: readonly OpenedWallet[], chainId: number): WorkerWallet[] {
  return wallets.map((wallet) => ({ ...wallet, lane: createLaneId(chainId, wallet.signer.address) }));
}

function openMain(privateKey: string, policyFile: string | undefined, problems: string[]): OpenedWallet[] {
  const policy = policyFile === undefined ? {} : readPolicy(policyFile, problems);
  const signer = readKeySigner(privateKey);
  if (!signer) {
    problems.push('WALLET_PRIVATE_KEY is not a private key: 32 bytes in hexadecimal (its value is not shown).');
    return [];
  }
  return [{ name: MAIN, address: signer.address, signer, policy, approvalAbove: {} }];
}

function readPolicy(file: string, problems: string[]): SpendingPolicy {
  const path = resolve(file);
  try {
    const policy: unknown = JSON.parse(readFileSync(path, 'utf8'));
    // The content is checked by the code that knows operations and tokens, which would find nothing wrong with a value
    // that is not an object.
    if (typeof policy === 'object' && policy !== null && !Array.isArray(policy)) return policy;
    problems.push(`POLICY_FILE: ${path} is not a JSON object.`);
    return {};
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    problems.push(
      code === undefined ? `POLICY_FILE: ${path} is not JSON.` : `POLICY_FILE: ${path} cannot be read (${code}).`,
    );
    return {};
  }
}

/** Two names for one account would mean two policies and two daily limits for the same balance. */
function reportDoubles(wallets: readonly OpenedWallet[], problems: string[]): void {
  wallets.forEach(({ name, signer }, index) => {
    for (const earlier of wallets.slice(0, index)) {
      if (earlier.name === name)
        problems.push(`The wallet ${name} is in WALLET_PRIVATE_KEY and in WALLETS_FILE. Remove one of them.`);
      else if (earlier.signer.address === signer.address) {
        problems.push(`The wallets ${earlier.name} and ${name} are the same account.`);
      }
    }
  });
}

/** A wallet whose chain is not known yet. */
type OpenedWallet = Omit<WorkerWallet, 'lane'>;

/** Used by jobs and as a metric label. */
const NAME = z.string().regex(/^[a-z0-9][\w.-]{0,62}$/i, 'a name has 1 to 63 letters, digits or ._-');
const FILE = z.string().min(1);
const WALLET = z
  .strictObject({
    keystore: FILE.optional(),
    passwordFile: FILE.optional(),
    privateKeyFile: FILE.optional(),
    // The content is checked by the code that knows operations and tokens.
    policy: z.record(z.string(), z.unknown()).optional(),
    approvalAbove: z
      .record(
        z.string().min(1),
        z.string().regex(/^\d{1,78}(\.\d{1,255})?$/, 'an amount is decimal text, for example "10.5"'),
      )
      .optional(),
  })
  .superRefine(({ keystore, passwordFile, privateKeyFile }, context) => {
    const isKeystore = keystore !== undefined && passwordFile !== undefined && privateKeyFile === undefined;
    const isKeyFile = keystore === undefined && passwordFile === undefined && privateKeyFile !== undefined;
    if (isKeystore || isKeyFile) return;
    context.addIssue({ code: 'custom', message: 'a wallet has either keystore and passwordFile, or privateKeyFile' });
  });
const WALLETS_FILE = z.strictObject({ wallets: z.record(NAME, WALLET) });

/**
 * The wallets of `WALLETS_FILE`, YAML or JSON; paths in it are relative to the file.
 * @param problems collects every problem, without any secret value
 */
function readWalletsFile(file: string, problems: string[]): OpenedWallet[] {
  const text = readText(resolve(file), 'WALLETS_FILE', problems);
  if (text === null) return [];
  const described = parseWallets(text, problems);
  return Object.entries(described).flatMap(([name, wallet]) => {
    const signer = openSigner(name, wallet, dirname(resolve(file)), problems);
    const { policy = {}, approvalAbove = {} } = wallet;
    return signer ? [{ name, address: signer.address, signer, policy, approvalAbove }] : [];
  });
}

function parseWallets(text: string, problems: string[]): Record<string, z.infer<typeof WALLET>> {
  let value: unknown;
  try {
    value = parse(text, { maxAliasCount: 0 });
  } catch (error) {
    // Only the first line, which gives the position; the lines after it quote the file.
    const [reason] = (error instanceof Error ? error.message : String(error)).split('\n');
    problems.push(`WALLETS_FILE is neither YAML nor JSON: ${reason ?? ''}`);
    return {};
  }
  const parsed = WALLETS_FILE.safeParse(value);
  if (parsed.success) return parsed.data.wallets;
  for (const { path, message } of parsed.error.issues) {
    problems.push(`WALLETS_FILE: ${path.length === 0 ? '' : `${path.join('.')}: `}${message}`);
  }
  return {};
}

function openSigner(
  name: string,
  { keystore, passwordFile, privateKeyFile }: z.infer<typeof WALLET>,
  folder: string,
  problems: string[],
): LaneSigner | null {
  const place = `WALLETS_FILE: wallets.${name}`;
  const read = (file: string, field: string) => readText(resolve(folder, file), `${place}.${field}`, problems);
  if (privateKeyFile !== undefined) {
    const text = read(privateKeyFile, 'privateKeyFile');
    if (text === null) return null;
    const signer = readKeySigner(text);
    if (!signer) problems.push(`${place}.privateKeyFile is not a private key: 32 bytes in hexadecimal.`);
    return signer;
  }
  const text = read(keystore ?? '', 'keystore');
  const password = read(passwordFile ?? '', 'passwordFile');
  if (text === null || password === null) return null;
  try {
    return decryptKeystore(text, password.replace(/\r?\n$/, ''));
  } catch (error) {
    if (!(error instanceof KeystoreError)) throw error;
    problems.push(`${place}.keystore: ${error.message}.`);
    return null;
  }
}

function readText(path: string, place: string, problems: string[]): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const { code = 'unreadable' } = error as NodeJS.ErrnoException;
    problems.push(`${place}: ${path} ${code === 'ENOENT' ? 'does not exist' : `cannot be read (${code})`}.`);
    return null;
  }
}

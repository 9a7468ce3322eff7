import { readFileSync } from 'node:fs';

import { ConfigurationError, createWebFile } from '@tollgate/common';

import type { PagesEnvironment } from '../config/pages.environment.js';
import type { DocumentParts } from './document.js';
import { ASSETS_PATH } from './web-files.js';

const ANSWERS_WITHIN_MS = 5_000;

/**
 * The wallet of a devnet, if the settings ask for one: it signs whatever a page asks for, with accounts that the node
 * has unlocked.
 *
 * @throws ConfigurationError unless the node is anvil, since the chain's id says nothing: a public chain may have it too
 */
export async function loadTestWallet({
  testWallet,
  walletRpcUrl,
}: PagesEnvironment): Promise<DocumentParts['testWallet']> {
  if (testWallet === undefined || walletRpcUrl === undefined) return null;
  const version = await readNodeVersion(walletRpcUrl);
  if (!/^anvil\//i.test(version)) {
    throw new ConfigurationError([`TEST_WALLET is for anvil alone, and the node at WALLET_RPC_URL is ${version}.`]);
  }
  try {
    const file = createWebFile(ASSETS_PATH, 'test-wallet', 'js', readFileSync(testWallet));
    return { file, rpcUrl: walletRpcUrl };
  } catch (error) {
    const { code = 'unknown error' } = error as NodeJS.ErrnoException;
    throw new ConfigurationError([`TEST_WALLET: the file ${testWallet} cannot be read (${code}).`]);
  }
}

async function readNodeVersion(rpcUrl: string): Promise<string> {
  try {
    const response = await fetch(rpcUrl, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'web3_clientVersion', params: [] }),
      signal: AbortSignal.timeout(ANSWERS_WITHIN_MS),
    });
    const { result } = (await response.json()) as { result?: unknown };
    return typeof result === 'string' ? result.slice(0, 60) : 'unknown';
  } catch {
    return 'not answering';
  }
}

import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { readSettingFile, ConfigurationError } from '@tollgate/config';
import {
  createWebFile,
  findBuiltPages,
  hashForPolicy,
  isLoopbackHost,
  type WebFile,
  type WebFileKind,
} from '@tollgate/http';

import type { GatewayEnvironment } from '../config/gateway.config.js';
import type { PagesEnvironment } from '../config/pages.environment.js';

export interface WebFiles {
  readonly script: WebFile;
  /** Written into the frame of a sold page. */
  readonly frameScript: string;
  /** Written into each page, so that it is never seen without. */
  readonly style: { readonly text: string; readonly hash: string };
}

/** The folder of all files of the pages. */
export const ASSETS_PATH = '/pay/assets';

/** The built files of apps/gateway/web; null where they are not built. */
export function readWebFiles(): WebFiles | null {
  const folder = findBuiltPages('gateway', 'pay.js');
  if (folder === null) return null;
  const style = readFileSync(join(folder, 'pages.css'));
  const script = createWebFile(ASSETS_PATH, 'pay', 'js', readFileSync(join(folder, 'pay.js')));
  const frameScript = readFileSync(join(folder, 'frame.js'), 'utf8').trim();
  return { script, frameScript, style: { text: style.toString('utf8'), hash: hashForPolicy(style) } };
}

/** The seller's name and logo on the pages. */
export interface Brand {
  readonly name: string;
  readonly logo: WebFile | null;
}

const LARGEST_LOGO_BYTES = 100_000;

/** @throws ConfigurationError for a logo that cannot be read, is too large, or is no image of a known kind */
export function readBrand({ brandName, brandLogo }: PagesEnvironment): Brand {
  if (brandLogo === undefined) return { name: brandName, logo: null };
  const body = readSettingFile('BRAND_LOGO', brandLogo);
  if (body.length > LARGEST_LOGO_BYTES) {
    throw new ConfigurationError([`BRAND_LOGO: ${brandLogo} has ${body.length} bytes; at most ${LARGEST_LOGO_BYTES}.`]);
  }
  const kind = kindOf(body);
  if (kind === null) {
    throw new ConfigurationError([`BRAND_LOGO: ${brandLogo} is no PNG, JPEG, WebP or SVG image.`]);
  }
  return { name: brandName, logo: createWebFile(ASSETS_PATH, 'logo', kind, body) };
}

/** By the content: the name of a file says nothing. */
function kindOf(body: Buffer): WebFileKind | null {
  const start = body.subarray(0, 12).toString('latin1');
  if (start.startsWith('\x89PNG\r\n\x1a\n')) return 'png';
  if (start.startsWith('\xff\xd8\xff')) return 'jpg';
  if (start.startsWith('RIFF') && start.endsWith('WEBP')) return 'webp';
  const text = body.subarray(0, 1000).toString('utf8');
  return /^\uFEFF?\s*(<\?xml[^>]*>\s*)?(<!--[\s\S]*?-->\s*)*<svg[\s>]/.test(text) ? 'svg' : null;
}

/** The wallet of a devnet, and the nodes that it calls, one for each chain. */
export interface TestWallet {
  readonly file: WebFile;
  readonly rpcUrls: readonly string[];
}

const ANSWERS_WITHIN_MS = 5_000;

/**
 * The wallet of a devnet, if the settings ask for one: it signs whatever a page asks for, with accounts that the node
 * has unlocked.
 *
 * @throws ConfigurationError unless each node is a local anvil, since the chain's id says nothing: a public chain may have it too
 */
export async function loadTestWallet({
  pages: { testWallet },
  options,
}: Pick<GatewayEnvironment, 'pages' | 'options'>): Promise<TestWallet | null> {
  if (testWallet === undefined) return null;
  const rpcUrls = [...new Set(options.flatMap(({ chain }) => chain.walletRpc ?? []))];
  for (const rpcUrl of rpcUrls) {
    const version = isLoopbackHost(new URL(rpcUrl).hostname) ? await readNodeVersion(rpcUrl) : 'not on this machine';
    if (!/^anvil\//i.test(version)) {
      throw new ConfigurationError([`TEST_WALLET is for anvil alone, and the node at WALLET_RPC_URL is ${version}.`]);
    }
  }
  const file = createWebFile(ASSETS_PATH, 'test-wallet', 'js', readSettingFile('TEST_WALLET', testWallet));
  return { file, rpcUrls };
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

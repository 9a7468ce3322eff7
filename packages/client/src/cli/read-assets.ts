import { isAddress, isHttpUrl, KNOWN_CHAINS, parseTokenAmount, PaymentError, type Hex } from '@tollgate/protocol';
import { InvalidArgumentError } from 'commander';

import type { TrustedAsset } from '../offer/trusted-asset.js';

/** A chain that the command may pay on. */
export interface PayingChain {
  chainId: number;
  rpcUrl: string;
}

/** What the command may pay with, preferred ones first, and the chains of it. */
export interface PayingAssets {
  chains: readonly PayingChain[];
  assets: readonly TrustedAsset[];
}

export function readNumber(text: string, option: string): number {
  if (!/^[0-9]{1,15}$/.test(text)) throw new InvalidArgumentError(`${option} is not a whole number`);
  return Number(text);
}

export function readDecimals(text: string, option: string): number {
  const number = readNumber(text, option);
  if (number > 255) throw new InvalidArgumentError(`${option} is above 255`);
  return number;
}

export function readAddress(text: string, option: string): Hex {
  if (!isAddress(text)) throw new InvalidArgumentError(`${option} is not an address`);
  return text;
}

/** Not quoted, because even an invalid URL may hold an API key. */
export function readRpcUrl(text: string, option: string): string {
  if (isHttpUrl(text)) return text;
  throw new InvalidArgumentError(`${option} is not a URL of http or https, such as http://127.0.0.1:8545`);
}

/** As typed: the library converts it to base units. */
export function readAmount(text: string, option: string, decimals: number): string {
  try {
    parseTokenAmount(text, decimals);
  } catch (error) {
    if (!(error instanceof PaymentError)) throw error;
    throw new InvalidArgumentError(`${option}: ${[error.message, error.hint].join(' ')}`);
  }
  return text;
}

/** As gates name its network unless they are set to another name. */
export function nameChain(chainId: number): string {
  return KNOWN_CHAINS.find(({ id }) => id === chainId)?.name ?? `eip155:${chainId}`;
}

const FIELDS = ['chain-id', 'rpc', 'network', 'asset', 'decimals', 'pay-to', 'max'] as const;
type Field = (typeof FIELDS)[number];

/**
 * Adds what each `--also` names: another token, or a token on another chain. A field that is left out is that of the known
 * chain or token, and the chain is the first one.
 * @throws InvalidArgumentError, which quotes no RPC URL
 */
export function addAssets({ chains, assets }: PayingAssets, texts: readonly string[]): PayingAssets {
  const all = { chains: [...chains], assets: [...assets] };
  for (const [index, text] of texts.entries()) {
    const option = texts.length === 1 ? '--also' : `--also number ${index + 1}`;
    const fields = readFields(text, option);
    const chainId = 'chain-id' in fields ? readNumber(fields['chain-id'], `${option}: chain-id`) : chains[0]?.chainId;
    if (chainId === undefined) throw new InvalidArgumentError(`${option} has no chain-id`);
    addChain(all.chains, { chainId, rpc: fields.rpc }, option);
    all.assets.push(readAsset(chainId, fields, option));
  }
  return all;
}

type Fields = Partial<Record<Field, string>>;

function readFields(text: string, option: string): Fields {
  const fields: Fields = {};
  for (const pair of text.trim().split(/\s+/)) {
    const [, name, value] = /^([a-z-]+)=(.+)$/.exec(pair) ?? [];
    const field = FIELDS.find((known) => known === name);
    if (field === undefined || value === undefined)
      throw new InvalidArgumentError(`${option} is not name=value pairs of ${FIELDS.join(', ')}`);
    if (field in fields) throw new InvalidArgumentError(`${option} has ${field} twice`);
    fields[field] = value;
  }
  return fields;
}

/** A chain that is there already has its RPC server, and a second one would not be asked. */
function addChain(
  chains: PayingChain[],
  { chainId, rpc }: { chainId: number; rpc: string | undefined },
  option: string,
): void {
  const isThere = chains.some((one) => one.chainId === chainId);
  if (isThere && rpc !== undefined)
    throw new InvalidArgumentError(`${option}: chain ${chainId} has an RPC server already: leave rpc out`);
  if (isThere) return;
  if (rpc === undefined) throw new InvalidArgumentError(`${option}: rpc is missing for chain ${chainId}`);
  chains.push({ chainId, rpcUrl: readRpcUrl(rpc, `${option}: rpc`) });
}

function readAsset(chainId: number, fields: Fields, option: string): TrustedAsset {
  const known = KNOWN_CHAINS.find(({ id }) => id === chainId);
  const address = fields.asset ?? known?.tokens[0]?.asset;
  if (address === undefined) throw new InvalidArgumentError(`${option}: asset is missing for chain ${chainId}`);
  const asset = readAddress(address, `${option}: asset`);
  const token = known?.tokens.find((one) => one.asset === asset.toLowerCase());
  const decimals = fields.decimals ?? token?.decimals.toString();
  if (decimals === undefined) throw new InvalidArgumentError(`${option}: decimals are missing for ${asset}`);
  const trusted = {
    network: fields.network ?? nameChain(chainId),
    chainId,
    address: asset,
    decimals: readDecimals(decimals, `${option}: decimals`),
  };
  return {
    ...trusted,
    ...(fields['pay-to'] !== undefined && { payTo: readAddress(fields['pay-to'], `${option}: pay-to`) }),
    ...(fields.max !== undefined && { maxAmount: readAmount(fields.max, `${option}: max`, trusted.decimals) }),
  };
}

import { readFile } from 'node:fs/promises';

import type { Hex } from 'viem';

import { readContracts } from '../contracts/contracts.js';
import { inPackages } from './artifacts.js';

/** Where wallets expect it on every chain. */
export const PERMIT2: Hex = '0x000000000022D473030F116dDEE9F6B43aC78BA3';
/** The spenders that payers name in Permit2 signatures. */
export const EXACT_PROXY: Hex = '0x402085c248EeA27D92E8b30b2C58ed07f9E20001';
export const UPTO_PROXY: Hex = '0x4020A4f3b7b90ccA423B9fabCc0CE57C6C240002';

/** The contracts by which permits are settled: addresses with creation codes. */
export async function listProxyCreations(): Promise<[address: Hex, creation: Hex][]> {
  const { ExactPermitProxy, UptoPermitProxy } = await readContracts();
  return [
    [EXACT_PROXY, ExactPermitProxy.bytecode],
    [UPTO_PROXY, UptoPermitProxy.bytecode],
  ];
}

/** The contract that keeps the allowances: its address with its runtime code. */
export async function readSpender(): Promise<[address: Hex, code: Hex]> {
  const text = await readFile(inPackages('@1inch/solidity-utils/dist/src/permit2.json'), 'utf8');
  return [PERMIT2, (JSON.parse(text) as { bytecode: Hex }).bytecode];
}

import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';

import type { Abi, Hex } from 'viem';

import { repositoryRoot } from '../processes/repository.js';
import { compiledContractsPath } from './compile.mjs';

export interface CompiledContract {
  abi: Abi;
  /** Creation code: append the encoded constructor arguments. */
  bytecode: Hex;
}

export type ContractName =
  | 'BatchWallet'
  | 'DevEther'
  | 'ExactPermitProxy'
  | 'FeeToken'
  | 'LiquidStaking'
  | 'OtherToken'
  | 'PerpsExchange'
  | 'Pledges'
  | 'PriceOracle'
  | 'ReentrantStaker'
  | 'RevertingToken'
  | 'FalseToken'
  | 'StubbornToken'
  | 'TestNft'
  | 'TestToken'
  | 'TokenTaker'
  | 'UptoPermitProxy'
  | 'Usdc'
  | 'WrappedNative';

let reading: Promise<Record<ContractName, CompiledContract>> | undefined;

/** The contracts of `tools/devnet/contracts`, compiled if they are not in the cache; read once per process. */
export function readContracts(): Promise<Record<ContractName, CompiledContract>> {
  reading ??= compileContracts();
  return reading;
}

async function compileContracts(): Promise<Record<ContractName, CompiledContract>> {
  const path = compiledContractsPath();
  const compiler = join(repositoryRoot(), 'tools', 'devnet', 'contracts', 'compile.mjs');
  if (!existsSync(path)) await promisify(execFile)(process.execPath, [compiler]);
  return JSON.parse(await readFile(path, 'utf8')) as Record<ContractName, CompiledContract>;
}

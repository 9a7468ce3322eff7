import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';

import { encodeDeployData, type Abi, type Hex } from 'viem';

import type { CompiledContract } from '../contracts/contracts.js';
import { repositoryRoot } from '../processes/repository.js';

const V2_CORE = '@uniswap/v2-core/build';
const V2_PERIPHERY = '@uniswap/v2-periphery/build';
const V3_CORE = '@uniswap/v3-core/artifacts/contracts';
const V3_PERIPHERY = '@uniswap/v3-periphery/artifacts/contracts';
const COMPOUND = '@thenextblock/hardhat-compound/dist/artifacts/contracts/compound';

const PATHS = {
  UniswapV2Factory: `${V2_CORE}/UniswapV2Factory.json`,
  UniswapV2Router02: `${V2_PERIPHERY}/UniswapV2Router02.json`,
  UniswapV3Factory: `${V3_CORE}/UniswapV3Factory.sol/UniswapV3Factory.json`,
  NonfungiblePositionManager: `${V3_PERIPHERY}/NonfungiblePositionManager.sol/NonfungiblePositionManager.json`,
  SwapRouter: `${V3_PERIPHERY}/SwapRouter.sol/SwapRouter.json`,
  QuoterV2: `${V3_PERIPHERY}/lens/QuoterV2.sol/QuoterV2.json`,
  Comptroller: `${COMPOUND}/Comptroller.sol/Comptroller.json`,
  JumpRateModelV2: `${COMPOUND}/JumpRateModelV2.sol/JumpRateModelV2.json`,
  CErc20Immutable: `${COMPOUND}/CErc20Immutable.sol/CErc20Immutable.json`,
} as const;

export type ArtifactName = keyof typeof PATHS;

/**
 * The protocols as their authors published them on npm; only the devnet deploys them, and no package of ours contains
 * them.
 */
export async function readArtifacts(): Promise<Record<ArtifactName, CompiledContract>> {
  const entries = await Promise.all(
    Object.entries(PATHS).map(async ([name, path]) => {
      const { abi, bytecode } = JSON.parse(await readFile(inPackages(path), 'utf8')) as { abi: Abi; bytecode: string };
      return [name, { abi, bytecode: bytecode.startsWith('0x') ? bytecode : `0x${bytecode}` }] as const;
    }),
  );
  return Object.fromEntries(entries) as Record<ArtifactName, CompiledContract>;
}

/** The creation code of Multicall3, which viem has and does not export. */
export function readMulticall3CreationCode(): Hex {
  const constants = createRequire(inPackages('viem/package.json'))('./_cjs/constants/contracts.js') as unknown;
  return (constants as { multicall3Bytecode: Hex }).multicall3Bytecode;
}

/** A contract's creation code with its constructor's arguments. */
export function creationCode({ abi, bytecode }: CompiledContract, args: readonly unknown[] = []): Hex {
  return encodeDeployData({ abi, bytecode, args });
}

/** By path, not by name: not every package exports its artifacts. */
export function inPackages(path: string): string {
  return join(repositoryRoot(), 'node_modules', path);
}

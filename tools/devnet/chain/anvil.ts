import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';

import { numberToHex, parseEther, zeroAddress, zeroHash, type Hex } from 'viem';

import { listOnPath } from '../../../scripts/setup/on-path.mjs';
import { startChild, type Child } from '../processes/child-process.js';
import { callRpc } from '../processes/json-rpc.js';
import { repositoryRoot } from '../processes/repository.js';

export interface AnvilOptions {
  chainId: number;
  /** How many funded accounts there are. */
  accounts: number;
  /** A block every so many seconds; without it one per transaction, at once. */
  blockTimeSeconds?: number;
  /** 0, the default, lets the system choose. */
  port?: number;
  /** Accounts with their first nonces, from block 0 on; the chain's clock may then be a second late. Default: 0 for all. */
  nonces?: ReadonlyMap<Hex, number>;
  /** A file of `saveState`, whose chain goes on. */
  stateFile?: string;
}

/** Blocks whose state a call can read, newest first. */
const STATES_KEPT = '500';

const BALANCE = 1_000_000;
const GAS_LIMIT = 3_000_000_000;

/** Starts anvil with funded accounts of the well-known test mnemonic, unlocked. */
export async function startAnvil(options: AnvilOptions): Promise<{ child: Child; rpcUrl: string }> {
  const genesis = options.nonces === undefined ? null : writeGenesis(options.chainId, options.nonces);
  const child = await startChild({
    name: 'anvil',
    command: anvilProgram(),
    args: [
      ...['--host', '127.0.0.1', '--port', String(options.port ?? 0), '--chain-id', String(options.chainId)],
      ...['--accounts', String(options.accounts), '--balance', String(BALANCE)],
      ...(genesis === null ? [] : ['--init', genesis]),
      ...(options.stateFile === undefined ? [] : ['--load-state', options.stateFile]),
      // Room for thousands of transfers in one block: see mine-transfers.ts.
      ...['--gas-limit', String(GAS_LIMIT)],
      // Without it anvil writes the state after each older block below ~/.foundry, gigabytes in minutes, and keeps it.
      ...['--prune-history', STATES_KEPT],
      ...(options.blockTimeSeconds === undefined ? [] : ['--block-time', String(options.blockTimeSeconds)]),
    ],
  });
  try {
    const [, address = ''] = await child.waitForLine(/Listening on (\S+)/, 30_000);
    const rpcUrl = `http://${address.replace('0.0.0.0', '127.0.0.1')}`;
    await callRpc(rpcUrl, 'anvil_setLoggingEnabled', [false]);
    if (options.stateFile === undefined || genesis !== null) await setClock(rpcUrl);
    return { child, rpcUrl };
  } catch (error) {
    await child.end('SIGKILL');
    throw error;
  } finally {
    if (genesis !== null) rmSync(dirname(genesis), { recursive: true });
  }
}

/** Writes blocks, transactions, receipts and the newest state to a file. A call can read no state of an earlier block then. */
export async function saveState(rpcUrl: string, file: string): Promise<void> {
  const dump = (await callRpc(rpcUrl, 'anvil_dumpState', [])) as Hex;
  await writeFile(file, gunzipSync(Buffer.from(dump.slice(2), 'hex')));
}

/** Returns the file's path, in a folder of its own. */
function writeGenesis(chainId: number, nonces: ReadonlyMap<Hex, number>): string {
  const alloc = [...nonces].map(([address, nonce]) => {
    return [address, { balance: numberToHex(parseEther(String(BALANCE))), nonce: numberToHex(nonce) }];
  });
  const path = join(mkdtempSync(join(tmpdir(), 'tollgate-genesis-')), 'genesis.json');
  const genesis = {
    config: { chainId },
    alloc: Object.fromEntries(alloc) as object,
    timestamp: numberToHex(Math.floor(Date.now() / 1000)),
    gasLimit: numberToHex(GAS_LIMIT),
    baseFeePerGas: numberToHex(1_000_000_000),
    nonce: '0x0',
    difficulty: '0x0',
    extraData: '0x',
    mixHash: zeroHash,
    coinbase: zeroAddress,
  };
  writeFileSync(path, JSON.stringify(genesis));
  return path;
}

/**
 * The program that `npm ci` brings for this platform, else the `anvil` of a Foundry installation on the PATH. The program
 * itself and no wrapper of it, which would take a SIGKILL in its place.
 */
export function anvilProgram(): string {
  const architecture = process.arch === 'x64' ? 'amd64' : process.arch;
  const name = `@foundry-rs/anvil-${process.platform}-${architecture}`;
  try {
    return createRequire(join(repositoryRoot(), 'package.json')).resolve(`${name}/bin/anvil`);
  } catch (cause) {
    const installed = listOnPath('anvil').find((file) => existsSync(file));
    if (installed !== undefined) return installed;
    throw new Error(
      `There is no anvil for ${process.platform} ${process.arch}: run \`npm ci\`, or install Foundry (it brings anvil).`,
      { cause },
    );
  }
}

/**
 * Its clock begins at the time of the genesis, in whole seconds, and would stay late by what its start has taken: a second
 * where one has ended meanwhile, and so it is with this call.
 */
async function setClock(rpcUrl: string): Promise<void> {
  let aheadSeconds = -1;
  while (aheadSeconds < 0) {
    await callRpc(rpcUrl, 'evm_setTime', [Date.now()]);
    aheadSeconds = Number(await callRpc(rpcUrl, 'evm_increaseTime', [0]));
  }
}

/** Its version, with the commit and the time of its build. */
export async function anvilVersion(): Promise<string> {
  return (await promisify(execFile)(anvilProgram(), ['--version'])).stdout;
}

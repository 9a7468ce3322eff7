import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, realpath, rename, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';

import { numberToHex, type Hex } from 'viem';

import type { DevnetContracts } from '../../../packages/agent-kit/src/registry/devnet-contracts.js';
import { compiledContractsPath } from '../contracts/compile.mjs';
import { callRpc, callRpcBatch } from '../processes/json-rpc.js';
import { repositoryRoot } from '../processes/repository.js';
import { anvilProgram, anvilVersion, startAnvil, type AnvilOptions } from './anvil.js';

export interface WantedState extends Pick<AnvilOptions, 'chainId' | 'accounts'> {
  protocols: boolean;
  /** Puts the state on a new chain that mines each transaction at once. */
  seed: (rpcUrl: string) => Promise<DevnetContracts | null>;
}

interface ChainState {
  contracts: DevnetContracts | null;
  blocks: number;
  /** What `anvil_loadState` takes, as JSON, with SEEDED_AT for the second in which the state was made. */
  dump: string;
}

/** As long as a time stamp in hexadecimal. */
const SEEDED_AT = '_SECOND_';
/** What decides the state, beside the compiled contracts and anvil. */
const SOURCES = [
  'package-lock.json',
  'tools/devnet/chain/anvil.ts',
  'tools/devnet/chain/chain.ts',
  'tools/devnet/chain/chain-state.ts',
  'tools/devnet/protocols/permit-contracts.ts',
  'tools/devnet/protocols/place-contracts.ts',
];
const SOURCE_FOLDER = 'tools/devnet/protocols';

let hash: Promise<string> | undefined;

/** Of everything that decides the state of a new chain, wherever the repository and anvil are. */
export function sourcesHash(): Promise<string> {
  return (hash ??= hashSources());
}

/**
 * Gives a new chain the wanted state, which is made once and kept in `.tollgate/cache` without its transactions, and mines
 * the blocks that it took. Its time is the second before: a pool writes its first price record in the second after its
 * seeding, and what a swap was estimated to need before falls short by 62 % then.
 */
export async function loadChainState(rpcUrl: string, wanted: WantedState): Promise<DevnetContracts | null> {
  const { contracts, blocks, dump } = await readState(wanted);
  const seededAt = numberToHex(Math.floor(Date.now() / 1000) - 1).slice(2);
  await callRpc(rpcUrl, 'anvil_loadState', [`0x${Buffer.from(dump.replaceAll(SEEDED_AT, seededAt)).toString('hex')}`]);
  await callRpc(rpcUrl, 'anvil_mine', [numberToHex(blocks)]);
  return contracts;
}

async function readState(wanted: WantedState): Promise<ChainState> {
  const name = ['chain', wanted.chainId, ...(wanted.protocols ? ['protocols'] : []), await cacheKey()].join('-');
  const path = join(repositoryRoot(), '.tollgate', 'cache', `${name}.json`);
  return (await readKept(path)) ?? keep(path, await makeState(wanted));
}

/** With the very program of anvil too: one that was built anew may have the same version. */
async function cacheKey(): Promise<string> {
  const anvil = await realpath(anvilProgram());
  const { size, mtimeMs } = await stat(anvil);
  return checksumOf([await sourcesHash(), anvil, size, mtimeMs].join('\n')).slice(0, 16);
}

async function hashSources(): Promise<string> {
  const root = repositoryRoot();
  const sum = createHash('sha256').update(`${basename(compiledContractsPath())}\n${await anvilVersion()}`);
  const folder = (await readdir(join(root, SOURCE_FOLDER))).filter((file) => !file.endsWith('.spec.ts')).sort();
  for (const file of [...SOURCES, ...folder.map((name) => join(SOURCE_FOLDER, name))]) {
    sum.update(`\n${file}\n`).update(await readFile(join(root, file)));
  }
  return sum.digest('hex').slice(0, 16);
}

/** Undefined if there is no such file, or a broken one. */
async function readKept(path: string): Promise<ChainState | undefined> {
  const [checksum, text = ''] = (await readFile(path, 'utf8').catch(() => '')).split('\n');
  return checksum === checksumOf(text) ? (JSON.parse(text) as ChainState) : undefined;
}

/** Other processes may be doing the same; a folder that cannot be written to costs time, and nothing else. */
async function keep(path: string, state: ChainState): Promise<ChainState> {
  const text = JSON.stringify(state);
  const draft = `${path}.${process.pid}`;
  await mkdir(dirname(path), { recursive: true })
    .then(() => writeFile(draft, `${checksumOf(text)}\n${text}`))
    .then(() => rename(draft, path))
    .catch(() => undefined);
  return state;
}

function checksumOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

async function makeState({ chainId, accounts, seed }: WantedState): Promise<ChainState> {
  const { child, rpcUrl } = await startAnvil({ chainId, accounts });
  try {
    const contracts = await seed(rpcUrl);
    const [dump, { number, timestamp }] = (await callRpcBatch(rpcUrl, [
      { method: 'anvil_dumpState', params: [] },
      { method: 'eth_getBlockByNumber', params: ['latest', false] },
    ])) as [Hex, { number: Hex; timestamp: Hex }];
    return { contracts, blocks: Number(number), dump: trimDump(dump, timestamp.slice(2)) };
  } finally {
    await child.end('SIGKILL');
  }
}

/** Accounts alone, so that a chain's blocks and time are its own. */
function trimDump(dump: Hex, seededAt: string): string {
  const { accounts } = JSON.parse(gunzipSync(Buffer.from(dump.slice(2), 'hex')).toString()) as {
    accounts: Record<string, { storage: Record<string, string> }>;
  };
  for (const { storage } of Object.values(accounts))
    for (const [slot, value] of Object.entries(storage)) storage[slot] = value.replace(seededAt, SEEDED_AT);
  return JSON.stringify({
    block: null,
    best_block_number: null,
    historical_states: null,
    blocks: [],
    transactions: [],
    accounts,
  });
}

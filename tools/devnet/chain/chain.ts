import { pbkdf2Sync, randomInt } from 'node:crypto';

import { encodeFunctionData, numberToHex, toHex, type Hex } from 'viem';
import { HDKey, privateKeyToAddress } from 'viem/accounts';

import type { DevnetContracts } from '../../../packages/agent-kit/src/registry/devnet-contracts.js';
import { readContracts } from '../contracts/contracts.js';
import type { Exit } from '../processes/child-process.js';
import { callRpc, callRpcBatch } from '../processes/json-rpc.js';
import { deployProtocols } from '../protocols/deploy-protocols.js';
import { placeContracts, USDC_ADDRESS, WDEV_ADDRESS } from '../protocols/place-contracts.js';
import { saveState, startAnvil } from './anvil.js';
import { loadChainState } from './chain-state.js';
import { watchPool } from './watch-pool.js';

const MNEMONIC = 'test test test test test test test test test test test junk';
/** A million of each token, in base units: what an account has at the start. */
const INITIAL = [
  [USDC_ADDRESS, 10n ** 12n],
  [WDEV_ADDRESS, 10n ** 24n],
] as const;
const PAY_TO_INDEX = 9;
const FIRST_AGENT_WALLET = 20;
const FIRST_RELAYER = 24;
const ACCOUNTS = 26;

export interface ChainOptions {
  chainId?: number;
  /** A block every so many seconds; without it one per transaction, at once. */
  blockTimeSeconds?: number;
  port?: number;
  /** Helps automine when it stops (see `watchPool`), and is called with the number of times so far. */
  onNudge?: (nudges: number) => void;
  /**
   * Gives the accounts their nonces from block 0 on, so that a book that is older than the chain misses no transactions of
   * theirs. The chain's clock may then be a second late.
   */
  hasNoncesAtStart?: boolean;
  /** Goes on with a chain that was saved, of the same chain id; it has the protocols if it had them. */
  saved?: SavedChain | undefined;
  /** Swaps, lending, staking and perps too, seeded, and tokens to try them with. Without it (false), USDC alone. */
  protocols?: boolean;
}

export interface SavedChain {
  file: string;
  contracts: DevnetContracts | null;
}

export interface DevnetAccount {
  address: Hex;
  privateKey: Hex;
}

/** What is known of a devnet before it starts. */
export interface DevnetTerms {
  chainId: number;
  /** The USDC-like token: `tools/devnet/contracts/Usdc.sol`. */
  asset: Hex;
  /** WDEV, a token of 18 decimals without EIP-3009: `tools/devnet/contracts/DevEther.sol`. */
  plainToken: Hex;
  payTo: Hex;
}

export interface Devnet extends DevnetTerms {
  rpcUrl: string;
  /** Nine payers, each with native coin and a million USDC and WDEV; unlocked in anvil too. */
  accounts: DevnetAccount[];
  /** Ten more of the same for bulk work, so that their nonces collide with no others. */
  bulkSenders: Hex[];
  /** Four more for agent workers, which must be the only ones to use a wallet's nonces. */
  agentWallets: DevnetAccount[];
  /** Two more for verifiers, which must be the only ones to use a relayer's nonces. They hold native coin alone. */
  relayers: DevnetAccount[];
  blockTimeSeconds: number | null;
  /** Null on a chain that was started without the protocols. */
  contracts: DevnetContracts | null;
  /** Whether it has just begun, and is no saved one that goes on. */
  isNew: boolean;
  /** The id of anvil's process. */
  pid: number;
  /** Resolves when the running process ends, for whatever reason. */
  exited(): Promise<Exit>;
  logs: () => string;
  /** Writes it to a file, for `saved`. */
  save(file: string): Promise<void>;
  stop(): Promise<void>;
}

export type DevnetWithProtocols = Devnet & { contracts: DevnetContracts };

/**
 * Starts a chain of one anvil, with what `placeContracts` places, and funded accounts.
 * Blocks come at once unless given a time.
 */
export async function startChain(options: ChainOptions & { protocols: true }): Promise<DevnetWithProtocols>;
export async function startChain(options?: ChainOptions): Promise<Devnet>;
export async function startChain(options: ChainOptions = {}): Promise<Devnet> {
  const { chainId = 1328, blockTimeSeconds, port, onNudge, hasNoncesAtStart = false, protocols = false } = options;
  const { saved } = options;
  const accounts = Array.from({ length: ACCOUNTS }, (_, index) => deriveAccount(index));
  const nonces = scatterNonces(accounts);
  const { child, rpcUrl } = await startAnvil({
    chainId,
    accounts: ACCOUNTS,
    ...(hasNoncesAtStart ? { nonces } : {}),
    ...(blockTimeSeconds === undefined ? {} : { blockTimeSeconds }),
    ...(port === undefined ? {} : { port }),
    ...(saved === undefined ? {} : { stateFile: saved.file }),
  });
  const payers = accounts.slice(0, PAY_TO_INDEX);
  const agentWallets = accounts.slice(FIRST_AGENT_WALLET, FIRST_RELAYER);
  const relayers = accounts.slice(FIRST_RELAYER);
  let contracts: DevnetContracts | null;
  try {
    if (saved === undefined) {
      const seed = (bareUrl: string) => seedChain(bareUrl, accounts, protocols);
      contracts = await loadChainState(rpcUrl, { chainId, accounts: ACCOUNTS, protocols, seed });
      // The state has those of the chain that it was made on.
      await setNonces(rpcUrl, nonces);
    } else contracts = saved.contracts;
  } catch (error) {
    await child.end('SIGKILL');
    throw error;
  }
  if (onNudge && blockTimeSeconds === undefined) {
    const watch = watchPool(rpcUrl, onNudge);
    void child.exited.then(() => watch.stop());
  }
  return {
    rpcUrl,
    ...describeDevnet(chainId),
    accounts: payers,
    bulkSenders: accounts.slice(PAY_TO_INDEX + 1, FIRST_AGENT_WALLET).map(({ address }) => address),
    agentWallets,
    relayers,
    blockTimeSeconds: blockTimeSeconds ?? null,
    contracts,
    isNew: saved === undefined,
    pid: child.pid,
    exited: () => child.exited,
    logs: () => child.logs(),
    save: (file) => saveState(rpcUrl, file),
    stop: async () => {
      child.signal('SIGCONT');
      await child.end('SIGTERM', 3000);
    },
  };
}

/** The terms of a devnet with this id. */
export function describeDevnet(chainId: number): DevnetTerms {
  return { chainId, asset: USDC_ADDRESS, plainToken: WDEV_ADDRESS, payTo: deriveAccount(PAY_TO_INDEX).address };
}

/** A payer, the same one on every devnet. */
export function derivePayer(index: number): DevnetAccount {
  return deriveAccount(index);
}

/** An agent wallet, the same one on every devnet. */
export function deriveAgentWallet(index: number): DevnetAccount {
  return deriveAccount(FIRST_AGENT_WALLET + index);
}

/** A relayer, the same one on every devnet. */
export function deriveRelayer(index: number): DevnetAccount {
  return deriveAccount(FIRST_RELAYER + index);
}

/** Kept, and from one parent key: each derivation from the mnemonic takes some 50 ms of CPU, and tests start many chains. */
const derived = new Map<number, DevnetAccount>();
let parentKey: HDKey | undefined;

function deriveAccount(addressIndex: number): DevnetAccount {
  const account = derived.get(addressIndex) ?? deriveChild(addressIndex);
  derived.set(addressIndex, account);
  return account;
}

function deriveChild(addressIndex: number): DevnetAccount {
  // The seed as BIP-39 has it, for a mnemonic without a passphrase.
  parentKey ??= HDKey.fromMasterSeed(pbkdf2Sync(MNEMONIC, 'mnemonic', 2048, 64, 'sha512')).derive("m/44'/60'/0'/0");
  const key = parentKey.deriveChild(addressIndex).privateKey;
  if (!key) throw new Error('the mnemonic gives no private key');
  const privateKey = toHex(key);
  return { address: privateKeyToAddress(privateKey), privateKey };
}

async function seedChain(
  rpcUrl: string,
  accounts: DevnetAccount[],
  protocols: boolean,
): Promise<DevnetContracts | null> {
  await placeContracts(rpcUrl);
  const holders = accounts.filter((_, index) => index !== PAY_TO_INDEX && index < FIRST_RELAYER);
  await mintTokens(
    rpcUrl,
    holders.map(({ address }) => address),
  );
  if (!protocols) return null;
  const receivers = [...accounts.slice(0, PAY_TO_INDEX), ...accounts.slice(FIRST_AGENT_WALLET, FIRST_RELAYER)];
  return deployProtocols({ rpcUrl, asset: USDC_ADDRESS, accounts: receivers });
}

/** In one block: with automine on, anvil may strand one of several transactions that arrive together. */
async function mintTokens(rpcUrl: string, receivers: Hex[]): Promise<void> {
  const { Usdc } = await readContracts();
  const minter = receivers[0];
  if (!minter) return;
  const mints = INITIAL.flatMap(([token, amount]) =>
    receivers.map((receiver) => ({ token, args: [receiver, amount] })),
  );
  await callRpc(rpcUrl, 'evm_setAutomine', [false]);
  await callRpcBatch(
    rpcUrl,
    mints.map(({ token, args }, nonce) => ({
      method: 'eth_sendTransaction',
      params: [
        {
          from: minter,
          to: token,
          nonce: numberToHex(nonce),
          gas: numberToHex(100_000),
          data: encodeFunctionData({ abi: Usdc.abi, functionName: 'mint', args }),
        },
      ],
    })),
  );
  await callRpc(rpcUrl, 'evm_mine');
  await callRpc(rpcUrl, 'evm_setAutomine', [true]);
}

/** The accounts are the same on every devnet; with nonces from 0 their transactions' hashes would be, too. */
function scatterNonces(accounts: readonly DevnetAccount[]): Map<Hex, number> {
  const start = randomInt(1_000, 1_000_000_000);
  return new Map(accounts.map(({ address }) => [address, start]));
}

async function setNonces(rpcUrl: string, nonces: ReadonlyMap<Hex, number>): Promise<void> {
  const calls = [...nonces].map(([address, nonce]) => ({
    method: 'anvil_setNonce',
    params: [address, numberToHex(nonce)],
  }));
  await callRpcBatch(rpcUrl, calls);
}

import {
  createPublicClient,
  decodeFunctionData,
  erc20Abi,
  erc721Abi,
  formatEther,
  formatUnits,
  getAddress,
  http,
  parseEventLogs,
  type Abi,
  type Address,
  type Hex,
  type PublicClient,
  type TransactionReceipt,
} from 'viem';

import type { DevnetContracts } from '../../../packages/agent-kit/src/registry/devnet-contracts.js';
import { readContracts } from '../contracts/contracts.js';
import { readArtifacts } from '../protocols/artifacts.js';

/** The effects of a transaction, as text. */
export interface TransactionTrace {
  hash: Hex;
  status: 'success' | 'reverted';
  /** The contract's name, or the address where it has none here. */
  to: string;
  /** The method that was called; `transfer of coins` where no code was. */
  method: string;
  gasUsed: bigint;
  /** Transfers, approvals and events. */
  effects: string[];
}

export type Tracer = (hash: Hex) => Promise<TransactionTrace>;

interface KnownContract {
  name: string;
  abi: Abi;
  /** Present for a token that is counted in parts. */
  token?: { symbol: string; decimals: number };
}

export interface TracedChain {
  rpcUrl: string;
  contracts: DevnetContracts;
}

/** Reads transactions of a devnet as a block explorer would show them: it knows the devnet's contracts by name. */
export async function createTracer({ rpcUrl, contracts }: TracedChain): Promise<Tracer> {
  const client = createPublicClient({ transport: http(rpcUrl) });
  const known = await listContracts(contracts);
  return async (hash) => {
    const [transaction, receipt] = await Promise.all([
      client.getTransaction({ hash }),
      client.getTransactionReceipt({ hash }),
    ]);
    const contract = transaction.to === null ? undefined : known.get(transaction.to.toLowerCase());
    return {
      hash,
      status: receipt.status,
      to: contract?.name ?? transaction.to ?? 'a new contract',
      method: nameMethod(contract, transaction.input),
      gasUsed: receipt.gasUsed,
      effects: [
        ...describeCoins(await readMovedCoins(client, receipt)),
        ...listEffects(receipt, transaction.from, known),
      ],
    };
  };
}

/**
 * The change of the sender's native coin, without the fee. Nothing if it sent several transactions in the block, because
 * their changes cannot be separated.
 */
async function readMovedCoins(
  client: PublicClient,
  { from: address, ...receipt }: TransactionReceipt,
): Promise<bigint> {
  const { blockNumber, gasUsed, effectiveGasPrice } = receipt;
  const read = (block: bigint) =>
    Promise.all([
      client.getBalance({ address, blockNumber: block }),
      client.getTransactionCount({ address, blockNumber: block }),
    ]);
  const [[before, countBefore], [after, countAfter]] = await Promise.all([read(blockNumber - 1n), read(blockNumber)]);
  return countAfter - countBefore === 1 ? after - before + gasUsed * effectiveGasPrice : 0n;
}

function describeCoins(moved: bigint): string[] {
  return moved === 0n ? [] : [`${moved > 0n ? '+' : ''}${round(formatEther(moved))} SEI`];
}

async function listContracts(contracts: DevnetContracts): Promise<Map<string, KnownContract>> {
  const [own, published] = await Promise.all([readContracts(), readArtifacts()]);
  const { tokens, lending, uniswapV2, uniswapV3 } = contracts;
  const token = (symbol: string, decimals: number, abi: Abi): KnownContract => ({
    name: symbol,
    abi,
    token: { symbol, decimals },
  });
  const market = (symbol: string) => token(`c${symbol}`, 8, published.CErc20Immutable.abi);
  const entries: [Address, KnownContract][] = [
    [tokens.USDC, token('USDC', 6, own.Usdc.abi)],
    [tokens.WSEI, token('WSEI', 18, own.WrappedNative.abi)],
    [tokens.WBTC, token('WBTC', 8, own.TestToken.abi)],
    [contracts.staking, { ...token('stSEI', 18, own.LiquidStaking.abi), name: 'liquid staking' }],
    [contracts.nft, { name: 'test NFT', abi: own.TestNft.abi }],
    [contracts.perps, { name: 'perps exchange', abi: own.PerpsExchange.abi }],
    [uniswapV3.router, { name: 'Uniswap v3 router', abi: published.SwapRouter.abi }],
    [uniswapV3.positionManager, { name: 'Uniswap v3 positions', abi: published.NonfungiblePositionManager.abi }],
    [uniswapV2.router, { name: 'Uniswap v2 router', abi: published.UniswapV2Router02.abi }],
    [lending.comptroller, { name: 'comptroller', abi: published.Comptroller.abi }],
    ...Object.entries(lending.markets).map(([symbol, address]): [Address, KnownContract] => [address, market(symbol)]),
  ];
  return new Map(entries.map(([address, contract]) => [address.toLowerCase(), contract]));
}

function nameMethod(contract: KnownContract | undefined, input: Hex): string {
  if (input === '0x') return 'transfer of coins';
  if (contract) {
    try {
      return decodeCall(contract.abi, input);
    } catch {
      // Not in its ABI: only the selector is known.
    }
  }
  return input.slice(0, 10);
}

/** A multicall is named by the calls in it. */
function decodeCall(abi: Abi, input: Hex): string {
  const { functionName, args } = decodeFunctionData({ abi, data: input });
  const inner = args?.at(-1);
  if (functionName !== 'multicall' || !Array.isArray(inner)) return functionName;
  return (inner as Hex[]).map((call) => decodeFunctionData({ abi, data: call }).functionName).join(' + ');
}

function listEffects(receipt: TransactionReceipt, sender: Address, known: Map<string, KnownContract>): string[] {
  const nameOf = (address: Address) => known.get(address.toLowerCase())?.name ?? shorten(address);
  const isSender = (address: Address) => getAddress(address) === getAddress(sender);
  const balances = new Map<string, bigint>();
  const effects: string[] = [];
  const logs = parseEventLogs({ abi: [...erc20Abi, ...erc721Abi], logs: receipt.logs, strict: true });
  for (const { address, eventName, args } of logs) {
    const { token, name } = known.get(address.toLowerCase()) ?? { name: shorten(address) };
    if (eventName === 'Transfer' && 'tokenId' in args) {
      if (isSender(args.to)) effects.push(`+${name} #${args.tokenId}`);
      else if (isSender(args.from)) effects.push(`-${name} #${args.tokenId} to ${nameOf(args.to)}`);
    } else if (eventName === 'Transfer' && 'value' in args) {
      const moved = (isSender(args.to) ? args.value : 0n) - (isSender(args.from) ? args.value : 0n);
      balances.set(address, (balances.get(address) ?? 0n) + moved);
    } else if (eventName === 'Approval' && 'value' in args && isSender(args.owner)) {
      const amount = token ? round(formatUnits(args.value, token.decimals)) : String(args.value);
      // A token may report the rest of an allowance as an approval, which no account made.
      if (receipt.to !== null && getAddress(receipt.to) === getAddress(address)) {
        effects.push(`${nameOf(args.spender)} may take ${amount} ${name}`);
      }
    }
  }
  for (const [address, moved] of balances) {
    const { token } = known.get(address.toLowerCase()) ?? {};
    if (moved === 0n) continue;
    const symbol = token?.symbol ?? shorten(address);
    effects.unshift(`${moved > 0n ? '+' : ''}${round(formatUnits(moved, token?.decimals ?? 0))} ${symbol}`);
  }
  return [...effects, ...listReports(receipt, known)];
}

const MOVES = ['Transfer', 'Approval', 'AccrueInterest', 'Sync', 'Swap'];

/** The events that only the protocols have, by name. */
function listReports(receipt: TransactionReceipt, known: Map<string, KnownContract>): string[] {
  const names = receipt.logs.flatMap((log) => {
    const contract = known.get(log.address.toLowerCase());
    if (!contract) return [];
    return parseEventLogs({ abi: contract.abi, logs: [log] }).map(
      (event) => (event as unknown as { eventName: string }).eventName,
    );
  });
  return [...new Set(names)].filter((name) => !MOVES.includes(name));
}

function shorten(address: string): string {
  return `${address.slice(0, 6)}…${address.slice(-4)}`;
}

/** Six decimals are enough for people. */
function round(amount: string): string {
  const [whole = '', fraction = ''] = amount.split('.');
  return fraction.length > 6 ? `${whole}.${fraction.slice(0, 6)}…` : amount;
}

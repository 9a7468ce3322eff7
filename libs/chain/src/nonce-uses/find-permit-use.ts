import { readTransferLog, TRANSFER, type Hex } from '@tollgate/protocol';

import { encodeAddress, encodeNumber } from '../contracts/abi-encoding.js';
import { findMoved, type PromisedPermit } from '../contracts/permit2/find-permit-transfers.js';
import { isCallOf, PROXIES, readPermitCall } from '../contracts/permit2/permit-proxy.js';
import type { FoundLog } from '../logs/search-logs.js';
import type { ChainReader, MinedTransaction } from '../reader/chain-reader.js';
import { ChainUnavailableError } from '../rpc/chain-unavailable-error.js';
import type { SearchAsker } from './search-asker.js';
import { notShown, type SentPayment, UNSENT, wasSent } from './sent-payment.js';

export interface PermitLookUp {
  promised: PromisedPermit;
  /** Its transactions are read before the search. Default: no relayer has sent it. */
  sent?: SentPayment;
  /** The client to charge for a search, unless a relayer has sent the permit. */
  asker?: SearchAsker;
  /** Blocks before this time are not searched. */
  sinceMs: number;
  deadlineMs: number;
}

interface FoundPermit {
  txHash: Hex;
  blockNumber: number;
  minedAtMs: number;
  amountBaseUnits: bigint;
  /** The transaction's calldata. */
  input: Hex;
}

/** What became of a permit whose nonce is taken. */
export type PermitUse =
  /** The proxy was called with this very permit, by us or, under scheme `exact`, by any sender. */
  | ({ outcome: 'settled' } & FoundPermit)
  /** A contract that had the permit in its calldata made the proxy move the money: very likely by this permit. */
  | ({ outcome: 'unclear' } & FoundPermit)
  /** The payer invalidated the nonce or used it for another permit, as far as the search can tell. */
  | { outcome: 'used' }
  /**
   * The payer has paid the recipient so often since that the search ended before it had read all of them; or a job that is
   * forgotten may have settled the permit.
   */
  | { outcome: 'unfound' };

/** What an operator reads before it refunds a permit that is taken for used, but may have moved the money. */
export function describeDoubtfulUse(use: Extract<PermitUse, { outcome: 'unclear' | 'unfound' }>): {
  amountBaseUnits?: bigint;
  minedAtMs?: number;
  detail: string;
} {
  if (use.outcome === 'unfound') {
    return { detail: 'not found among the newest payments of its payer: moved by this signature, or never' };
  }
  const { amountBaseUnits, minedAtMs } = use;
  return { amountBaseUnits, minedAtMs, detail: 'sent through another contract: most likely moved by this signature' };
}

/** A payer may have paid the same recipient often: at most this many of its transactions are read. */
const MAX_TRANSACTIONS = 32;

/**
 * Finds the transaction that took a permit's nonce. Permit2 emits nothing that names the permit, so the payer's
 * transfers to the recipient are searched, newest first, for one whose calldata contains it.
 * @param headBlockNumber the head at which the nonce was seen to be taken
 * @throws ChainUnavailableError
 */
export async function findPermitUse(
  chain: Pick<ChainReader, 'readHead' | 'searchPast' | 'searchBelow' | 'readTransaction' | 'readBlockTime'>,
  { promised, sent = UNSENT, asker, sinceMs, deadlineMs }: PermitLookUp,
  headBlockNumber: number,
): Promise<PermitUse> {
  let isSeen = false;
  for (const txHash of sent.txHashes) {
    const { mined } = await chain.readTransaction(txHash, deadlineMs);
    const use = mined && (await judgeUse(chain, promised, { mined, deadlineMs }));
    if (use) return use;
    isSeen ||= mined !== null;
  }
  const isCharged = !wasSent(sent);
  if (isCharged) asker?.assertLeft();
  const use = await searchUse(chain, { promised, sinceMs, deadlineMs }, headBlockNumber);
  if (use.outcome === 'settled' || use.outcome === 'unclear') return use;
  if (isCharged) asker?.foundNothing();
  // Receipts and logs may become visible later than the nonce. All transactions of a job have the same nonce, so none
  // but the one that was seen can be mined.
  if (sent.job === 'open' && sent.txHashes.length > 0 && !isSeen) throw notShown();
  return sent.job === 'forgotten' ? { outcome: 'unfound' } : use;
}

async function searchUse(
  chain: Pick<ChainReader, 'readHead' | 'searchPast' | 'searchBelow' | 'readTransaction' | 'readBlockTime'>,
  { promised, sinceMs, deadlineMs }: Omit<PermitLookUp, 'sent' | 'asker'>,
  headBlockNumber: number,
): Promise<PermitUse> {
  const { asset, payTo, payment } = promised;
  const payer = encodeAddress(payment.permit2Authorization.from);
  const topics: Hex[][] = [[TRANSFER], [`0x${payer}`], [`0x${encodeAddress(payTo)}`]];
  // A server may process the calls of one request in any order, so the block of the permit may be newer than a head that
  // was read together with its nonce.
  const head = Math.max(headBlockNumber, await chain.readHead(deadlineMs));
  let left = MAX_TRANSACTIONS;
  const search = { address: asset, topics, sinceMs, deadlineMs };
  // The cache key of the first search names the permit, since its result depends on when the nonce was taken. Older
  // ranges do not change, so their key is the block below which they lie.
  let found = await chain.searchPast(
    { ...search, headBlockNumber: head },
    `permit ${payment.permit2Authorization.nonce}`,
  );
  while (found.length > 0) {
    const logs = [...found].sort(byAge);
    const txHashes = [...new Set(logs.filter(movesSomething).map(({ txHash }) => txHash))];
    const read = txHashes.slice(0, left);
    const uses = await Promise.all(read.map((txHash) => readUse(chain, promised, { txHash, deadlineMs })));
    const use = uses.find((one) => one?.outcome === 'settled') ?? uses.find((one) => one !== null);
    if (use) return use;
    left -= txHashes.length;
    if (left < 0) return { outcome: 'unfound' };
    const oldest = Math.min(...logs.map(({ blockNumber }) => blockNumber));
    found = await chain.searchBelow({ ...search, headBlockNumber: oldest - 1 }, `below ${oldest}`);
  }
  return { outcome: 'used' };
}

/** Ignores transfers of 0, which need no allowance: third parties could bury a payment under them. */
function movesSomething(log: FoundLog): boolean {
  return (readTransferLog(log)?.amountBaseUnits ?? 0n) > 0n;
}

function byAge(one: FoundLog, other: FoundLog): number {
  return other.blockNumber - one.blockNumber;
}

async function readUse(
  chain: Pick<ChainReader, 'readTransaction' | 'readBlockTime'>,
  promised: PromisedPermit,
  { txHash, deadlineMs }: { txHash: Hex; deadlineMs: number },
): Promise<PermitUse | null> {
  const { mined } = await chain.readTransaction(txHash, deadlineMs);
  if (mined === null) {
    throw new ChainUnavailableError('rpc_inconsistent', 'The RPC server returned the logs but not their transaction.');
  }
  return judgeUse(chain, promised, { mined, deadlineMs });
}

async function judgeUse(
  chain: Pick<ChainReader, 'readBlockTime'>,
  promised: PromisedPermit,
  { mined, deadlineMs }: { mined: MinedTransaction; deadlineMs: number },
): Promise<PermitUse | null> {
  const moved = findMoved(mined.receipt.logs, promised);
  if (moved === null) return null;
  const isDirect = settlesDirectly(mined, promised, moved);
  if (!isDirect && !carriesPermit(mined.input, promised)) return null;
  const { receipt, input } = mined;
  const minedAtMs = await chain.readBlockTime(receipt, deadlineMs);
  const { txHash, blockNumber } = receipt;
  const found = { txHash, blockNumber, minedAtMs, amountBaseUnits: moved, input };
  return { outcome: isDirect ? 'settled' : 'unclear', ...found };
}

function settlesDirectly({ to, input }: MinedTransaction, { payment }: PromisedPermit, moved: bigint): boolean {
  const call = to === PROXIES[payment.scheme] ? readPermitCall(payment.scheme, input) : null;
  return call !== null && isCallOf(call, payment) && call.amountBaseUnits === moved;
}

/** Whether calldata contains the permit as encoded for the proxy, at any byte: token, amount, nonce, deadline. */
function carriesPermit(input: Hex, { payment: { permit2Authorization } }: PromisedPermit): boolean {
  const { permitted, nonce, deadline } = permit2Authorization;
  const numbers = [permitted.amount, nonce, deadline].map((text) => encodeNumber(BigInt(text)));
  return input.includes([encodeAddress(permitted.token), ...numbers].join(''));
}

/** Whether calldata contains a permit for the token with this nonce, of any amount, as encoded for the proxy, at any byte. */
export function carriesNonce(input: Hex, token: Hex, nonce: bigint): boolean {
  return new RegExp(`${encodeAddress(token)}[0-9a-f]{64}${encodeNumber(nonce)}`).test(input);
}

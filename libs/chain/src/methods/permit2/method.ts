import {
  readTransferLog,
  TRANSFER,
  type EmittedLog,
  type Hex,
  type Permit2Transfer,
  type SignedPaymentId,
} from '@tollgate/protocol';

import { encodeAddress, encodeNumber } from '../../contracts/abi-encoding.js';
import { unwrapSignature } from '../../contracts/payer-signature.js';
import type { FoundLog } from '../../logs/search-logs.js';
import type { MinedTransaction } from '../../reader/chain-reader.js';
import { ChainUnavailableError } from '../../rpc/chain-unavailable-error.js';
import type {
  ChainMethod,
  PaymentUse,
  PromisedMove,
  SearchedChain,
  TransferCause,
  UseLookUp,
} from '../chain-method.js';
import { notShown, UNSENT, wasSent } from '../sent-payment.js';
import {
  askForPermitNonce,
  findPermitTransfers,
  type PermitCall,
  planPermitTransfer,
  PROXIES,
  readPermitCall,
  readPermitNonce,
} from './permit-contracts.js';

type PermitTerms = { kind: 'permit2' } & Permit2Transfer;
type PermitId = Extract<SignedPaymentId, { kind: 'permit2' }>;

/** Permit2: its contract keeps the nonces and names none in a log, so that a permit is found by calldata alone. */
export const permit2OnChain: ChainMethod<PermitTerms> = {
  kind: 'permit2',
  senderOf: (payment) => (payment.scheme === 'upto' ? payment.permit2Authorization.witness.facilitator : null),
  askForNonceOf({ permit2Authorization: { from: owner, nonce } }) {
    const name = { owner, nonce };
    return {
      ask: (blockNumber) => askForPermitNonce(name, blockNumber),
      read: (word) => readPermitNonce(name, word),
    };
  },
  findUse: findPermitUse,
  readMoves: (logs) => ({ of: (promised) => findMoved(logs, promised) }),
  findCauses(logs, { asset }) {
    const causes = new Map<number, TransferCause>();
    for (const [position, { proxy }] of findPermitTransfers(logs, asset)) {
      causes.set(position, { kind: 'permit2', id: null, settler: proxy });
    }
    return causes;
  },
  calldata: {
    nameOf(input, { settler, payer, chainId }) {
      const call = readPermitCall(settler === PROXIES.exact ? 'exact' : 'upto', input);
      return call?.permit.from === payer ? { kind: 'permit2', chainId, owner: payer, nonce: call.permit.nonce } : null;
    },
    carries: (input, { owner, nonce }: PermitId, { asset, payer }) =>
      owner === payer && carriesNonce(input, asset, BigInt(nonce)),
  },
  // A job settles one permit and nothing else.
  isIn: () => true,
  isSignedIn({ input, amountBaseUnits }, payment) {
    const bytes = unwrapSignature(payment.signature)?.bytes ?? payment.signature;
    return input.startsWith(planPermitTransfer({ ...payment, signature: bytes }, amountBaseUnits).data);
  },
};

// What an operator reads before it refunds a permit that is taken for used, but may have moved the money.
const UNCLEAR = 'sent through another contract: most likely moved by this signature';
/**
 * The payer has paid the recipient so often since that the search ended before it had read all of them; or a job that is
 * forgotten may have settled the permit.
 */
const UNFOUND: PaymentUse = {
  outcome: 'doubtful',
  failure: 'payment_used',
  facts: { detail: 'not found among the newest payments of its payer: moved by this signature, or never' },
};

/** A payer may have paid the same recipient often: at most this many of its transactions are read. */
const MAX_TRANSACTIONS = 32;

/**
 * Finds a permit among the relayer's transactions, then among the payer's transfers to the recipient, newest first: the
 * one whose calldata contains it.
 */
export async function findPermitUse(
  chain: SearchedChain,
  { promised, sent = UNSENT, asker, sinceMs, deadlineMs }: UseLookUp<PermitTerms>,
  headBlockNumber: number,
): Promise<PaymentUse> {
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
  if (use.outcome !== 'used' && use !== UNFOUND) return use;
  if (isCharged) asker?.foundNothing();
  // Receipts and logs may become visible later than the nonce. All transactions of a job have the same nonce, so none
  // but the one that was seen can be mined.
  if (sent.job === 'open' && sent.txHashes.length > 0 && !isSeen) throw notShown();
  return sent.job === 'forgotten' ? UNFOUND : use;
}

async function searchUse(
  chain: SearchedChain,
  { promised, sinceMs, deadlineMs }: Omit<UseLookUp<PermitTerms>, 'sent' | 'asker'>,
  headBlockNumber: number,
): Promise<PaymentUse> {
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
    if (left < 0) return UNFOUND;
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
  chain: SearchedChain,
  promised: PromisedMove<PermitTerms>,
  { txHash, deadlineMs }: { txHash: Hex; deadlineMs: number },
): Promise<PaymentUse | null> {
  const { mined } = await chain.readTransaction(txHash, deadlineMs);
  if (mined === null) {
    throw new ChainUnavailableError('rpc_inconsistent', 'The RPC server returned the logs but not their transaction.');
  }
  return judgeUse(chain, promised, { mined, deadlineMs });
}

async function judgeUse(
  chain: SearchedChain,
  promised: PromisedMove<PermitTerms>,
  { mined, deadlineMs }: { mined: MinedTransaction; deadlineMs: number },
): Promise<PaymentUse | null> {
  const moved = findMoved(mined.receipt.logs, promised);
  if (moved === null) return null;
  const isDirect = settlesDirectly(mined, promised, moved);
  if (!isDirect && !carriesPermit(mined.input, promised)) return null;
  const { receipt, input } = mined;
  const minedAtMs = await chain.readBlockTime(receipt, deadlineMs);
  if (!isDirect) {
    const facts = { amountBaseUnits: moved, minedAtMs, detail: UNCLEAR };
    return { outcome: 'doubtful', failure: 'payment_used', facts };
  }
  const { txHash, blockNumber } = receipt;
  return { outcome: 'settled', txHash, blockNumber, minedAtMs, amountBaseUnits: moved, input };
}

/** The proxy was called with this very permit, by us or, under scheme `exact`, by any sender. */
function settlesDirectly(
  { to, input }: MinedTransaction,
  { payment }: PromisedMove<PermitTerms>,
  moved: bigint,
): boolean {
  const call = to === PROXIES[payment.scheme] ? readPermitCall(payment.scheme, input) : null;
  return call !== null && isCallOf(call, payment) && call.amountBaseUnits === moved;
}

/** Whether calldata contains the permit as encoded for the proxy, at any byte: token, amount, nonce, deadline. */
function carriesPermit(input: Hex, { payment: { permit2Authorization } }: PromisedMove<PermitTerms>): boolean {
  const { permitted, nonce, deadline } = permit2Authorization;
  const numbers = [permitted.amount, nonce, deadline].map((text) => encodeNumber(BigInt(text)));
  return input.includes([encodeAddress(permitted.token), ...numbers].join(''));
}

/** Whether calldata contains a permit for the token with this nonce, of any amount, as encoded for the proxy, at any byte. */
function carriesNonce(input: Hex, token: Hex, nonce: bigint): boolean {
  return new RegExp(`${encodeAddress(token)}[0-9a-f]{64}${encodeNumber(nonce)}`).test(input);
}

/**
 * Whether a call settles this very permit: a payer may sign several permits with one nonce, for other amounts and
 * senders.
 */
function isCallOf({ permit, witness }: PermitCall, { permit2Authorization: signed }: PermitTerms): boolean {
  return (
    permit.from === signed.from &&
    permit.permitted.token === signed.permitted.token &&
    permit.permitted.amount === signed.permitted.amount &&
    permit.nonce === signed.nonce &&
    permit.deadline === signed.deadline &&
    witness.to === signed.witness.to &&
    witness.validAfter === signed.witness.validAfter &&
    witness.facilitator === ('facilitator' in signed.witness ? signed.witness.facilitator : undefined)
  );
}

/** The amount that the proxy of the permit's scheme moved from the payer to the recipient; null if none. */
function findMoved(
  logs: readonly EmittedLog[],
  { asset, payTo, payment: { scheme, permit2Authorization } }: PromisedMove<PermitTerms>,
): bigint | null {
  const own = [...findPermitTransfers(logs, asset).values()].find(
    ({ from, to, proxy }) => from === permit2Authorization.from && to === payTo && proxy === PROXIES[scheme],
  );
  return own?.amountBaseUnits ?? null;
}

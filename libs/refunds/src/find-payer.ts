import { chainMethods, listArrivals, type Arrival, type MinedTransaction } from '@tollgate/chain';
import { isSignedId, nameOfPayment, type PaymentId } from '@tollgate/ledger';
import { isHash, type Hex } from '@tollgate/protocol';

import type { RefundChain } from './ports.js';

/** Who paid, as the chain shows it. */
export interface ShownPayer {
  readonly address: Hex;
  /** Its account has code: the tokens may be lost there. */
  readonly isContract: boolean;
  /** Others paid the seller in the same transaction. */
  readonly isOneOfSeveral: boolean;
  /** Base units that the chain shows for the payment. */
  readonly amount: bigint;
  /** Lower case. */
  readonly transaction: string;
  /** The transfers that are the payment, by the places of their logs, with what each moved. */
  readonly transfers: readonly { readonly log: number; readonly arrived: string }[];
  /**
   * The ledger's name of the permit that caused the transfer, under which it can be presented too; `unknown`: a permit
   * that another contract has sent, which cannot be presented. Null: no permit did, or the payment is the permit.
   */
  readonly permit: string | null;
  /** The time of its block, in milliseconds since 1970. */
  readonly minedAtMs: number;
}

export type PayerSearch =
  | { outcome: 'found'; payer: ShownPayer }
  /** `unclear`: several payers or permits, and the payment names none of them. */
  | { outcome: 'none'; reason: 'not_on_chain' | 'paid_nothing' | 'unclear' }
  /** The chain shows the money under this name: an authorization's transfer is that authorization. */
  | { outcome: 'none'; reason: 'other_name'; name: string };

export interface PaymentOnChain {
  readonly id: PaymentId;
  /** The transaction that moved the money, as the book has it. */
  readonly transaction: string | null;
  /** Base units, as the book has them. */
  readonly amount: bigint;
  readonly asset: Hex;
  readonly payTo: string;
}

/**
 * Finds the transfers of a payment by what the chain shows alone: the nonce of its authorization or permit, or the place of
 * its log. Events only say in which transaction to look, so that no event makes two payments of one transfer.
 * @throws ChainUnavailableError
 */
export async function findPayer(chain: RefundChain, payment: PaymentOnChain): Promise<PayerSearch> {
  const { id, asset, payTo } = payment;
  const txHash = payment.transaction?.toLowerCase();
  const mined = isHash(txHash) && id.chainId === chain.chainId ? await chain.readTransaction(txHash) : null;
  if (mined === null || mined.receipt.status !== 'success') return { outcome: 'none', reason: 'not_on_chain' };
  const { receipt } = mined;
  const all = listArrivals(receipt.logs, { chainId: chain.chainId, asset, recipient: payTo });
  const own = findOwn(all, mined, payment);
  const [first, ...others] = own;
  if (first === undefined) return explainNone(all, payment);
  const isBundled = isSignedId(id) && isUnnamed(first) && !isDirect(mined, first);
  if (others.some(({ from }) => from !== first.from) || (isBundled && others.length > 0))
    return { outcome: 'none', reason: 'unclear' };
  return {
    outcome: 'found',
    payer: {
      address: first.from,
      isContract: await chain.isContract(first.from),
      isOneOfSeveral: new Set(all.map(({ from }) => from)).size > 1,
      permit: id.kind === 'transfer' ? findPermit(mined, first, chain.chainId) : isBundled ? 'unknown' : null,
      amount: own.reduce((sum, { amountBaseUnits }) => sum + amountBaseUnits, 0n),
      transaction: receipt.txHash,
      transfers: own.map(({ position, amountBaseUnits }) => ({ log: position, arrived: String(amountBaseUnits) })),
      minedAtMs: receipt.blockTimeMs ?? (await chain.readBlockTimeMs(receipt.blockNumber)),
    },
  };
}

/** Those that are the payment. What a signature caused is never the transaction's own. */
function findOwn(all: readonly Arrival[], mined: MinedTransaction, { id, asset, amount }: PaymentOnChain): Arrival[] {
  if (id.kind === 'transfer') return all.filter(({ position, cause }) => position === id.logIndex && !cause?.id);
  if (!isSignedId(id)) return all.filter(({ cause }) => cause === null);
  const name = nameOfPayment(id);
  const { calldata } = chainMethods.of(id);
  return all.filter((arrival) => {
    if (arrival.cause?.kind !== id.kind) return false;
    if (!isUnnamed(arrival) || isDirect(mined, arrival)) return nameCause(mined, arrival, id.chainId) === name;
    // The logs name no payment: of one that another contract has sent, only the calldata shows it.
    const move = { asset, payer: arrival.from };
    return arrival.amountBaseUnits === amount && calldata?.carries(mined.input, id, move) === true;
  });
}

function explainNone(all: readonly Arrival[], { id }: PaymentOnChain): PayerSearch {
  const other = id.kind === 'transfer' ? all.find(({ position }) => position === id.logIndex) : undefined;
  if (!other?.cause?.id) return { outcome: 'none', reason: 'paid_nothing' };
  return { outcome: 'none', reason: 'other_name', name: nameOfPayment(other.cause.id) };
}

/** Only a permit that was sent to its proxy directly can be presented after its settlement. */
function findPermit(mined: MinedTransaction, arrival: Arrival, chainId: number): string | null {
  return arrival.cause === null ? null : (nameCause(mined, arrival, chainId) ?? 'unknown');
}

/** The name of the signed payment that made the transfer, by the logs or by a call of its settler; null: they have none. */
function nameCause({ to, input }: MinedTransaction, { cause, from: payer }: Arrival, chainId: number): string | null {
  if (cause === null) return null;
  const { kind, id, settler } = cause;
  const called = to === settler ? chainMethods.of({ kind }).calldata : null;
  const named = id ?? called?.nameOf(input, { settler, payer, chainId });
  return named ? nameOfPayment(named) : null;
}

const isUnnamed = ({ cause }: Arrival): boolean => cause?.id === null;

const isDirect = ({ to }: MinedTransaction, { cause }: Arrival): boolean => to === cause?.settler;

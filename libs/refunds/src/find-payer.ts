import {
  carriesNonce,
  listArrivals,
  PROXIES,
  readPermitCall,
  type Arrival,
  type MinedTransaction,
} from '@tollgate/chain';
import { nameOfPayment, type PaymentId } from '@tollgate/ledger';
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
  const all = listArrivals(receipt.logs, asset, payTo);
  const own = findOwn(all, mined, payment);
  const [first, ...others] = own;
  if (first === undefined) return explainNone(all, payment);
  const isBundledPermit = id.kind === 'permit2' && !isDirect(mined, first);
  if (others.some(({ from }) => from !== first.from) || (isBundledPermit && others.length > 0))
    return { outcome: 'none', reason: 'unclear' };
  return {
    outcome: 'found',
    payer: {
      address: first.from,
      isContract: await chain.isContract(first.from),
      isOneOfSeveral: new Set(all.map(({ from }) => from)).size > 1,
      permit: id.kind === 'transfer' ? findPermit(mined, first, chain.chainId) : isBundledPermit ? 'unknown' : null,
      amount: own.reduce((sum, { amountBaseUnits }) => sum + amountBaseUnits, 0n),
      transaction: receipt.txHash,
      transfers: own.map(({ position, amountBaseUnits }) => ({ log: position, arrived: String(amountBaseUnits) })),
      minedAtMs: receipt.blockTimeMs ?? (await chain.readBlockTimeMs(receipt.blockNumber)),
    },
  };
}

/** Those that are the payment. What a signature caused is never the transaction's own. */
function findOwn(all: readonly Arrival[], mined: MinedTransaction, { id, asset, amount }: PaymentOnChain): Arrival[] {
  switch (id.kind) {
    case 'transfer':
      return all.filter(({ position, authorization }) => position === id.logIndex && authorization === null);
    case 'transaction':
      return all.filter(({ authorization, proxy }) => authorization === null && proxy === null);
    case 'authorization':
      return all.filter(
        ({ from, authorization }) => id.asset === asset && id.from === from && id.nonce === authorization,
      );
    case 'permit2': {
      const permitted = all.filter(({ from, proxy }) => proxy !== null && from === id.owner);
      return permitted.filter((arrival) => {
        if (isDirect(mined, arrival)) return readCall(mined, arrival)?.permit.nonce === id.nonce;
        // Permit2 emits no nonce: of a permit that another contract has sent, only the calldata shows it.
        return arrival.amountBaseUnits === amount && carriesNonce(mined.input, asset, BigInt(id.nonce));
      });
    }
  }
}

function explainNone(all: readonly Arrival[], { id, asset }: PaymentOnChain): PayerSearch {
  const other = id.kind === 'transfer' ? all.find(({ position }) => position === id.logIndex) : undefined;
  if (other?.authorization == null) return { outcome: 'none', reason: 'paid_nothing' };
  const { from, authorization: nonce } = other;
  const name = nameOfPayment({ kind: 'authorization', chainId: id.chainId, asset, from, nonce });
  return { outcome: 'none', reason: 'other_name', name };
}

/** Only a permit that was sent to its proxy directly can be presented after its settlement: see `findPermitUse`. */
function findPermit(mined: MinedTransaction, arrival: Arrival, chainId: number): string | null {
  if (arrival.proxy === null) return null;
  const call = readCall(mined, arrival);
  if (call?.permit.from !== arrival.from) return 'unknown';
  return nameOfPayment({ kind: 'permit2', chainId, owner: arrival.from, nonce: call.permit.nonce });
}

const isDirect = ({ to }: MinedTransaction, { proxy }: Arrival): boolean => to === proxy;

function readCall(mined: MinedTransaction, arrival: Arrival) {
  if (!isDirect(mined, arrival)) return null;
  return readPermitCall(arrival.proxy === PROXIES.exact ? 'exact' : 'upto', mined.input);
}

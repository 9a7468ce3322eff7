import {
  findPermitTransfers,
  listTransfers,
  PROXIES,
  readPermitCall,
  type MinedTransaction,
  type PlacedTransfer,
} from '@tollgate/chain';
import { nameOfPayment, type PaymentId } from '@tollgate/ledger';
import { isHash, type Hex } from '@tollgate/protocol';

import type { SellerChain } from '../chain/seller-chain.js';

/** Who paid, as the chain shows it. */
export interface ShownPayer {
  readonly address: Hex;
  /** Its account has code: the tokens may be lost there. */
  readonly isContract: boolean;
  /** Others paid the seller in the same transaction. */
  readonly isOneOfSeveral: boolean;
  /** Base units that the chain shows for the payment. */
  readonly amount: bigint;
  /**
   * The ledger's name of the permit that caused the transfer, under which it can be presented too; `unknown`: a permit
   * that another contract has sent, which cannot be presented. Null: no permit did.
   */
  readonly permit: string | null;
  /** The time of its block, in milliseconds since 1970. */
  readonly minedAtMs: number;
}

export type PayerSearch =
  | { outcome: 'found'; payer: ShownPayer }
  /** `unclear`: the transaction has several transfers of different payers, and the payment names none. */
  | { outcome: 'none'; reason: 'not_on_chain' | 'paid_nothing' | 'unclear' };

export interface PaymentOnChain {
  readonly id: PaymentId;
  /** The transaction that moved the money, as the book has it. */
  readonly transaction: string | null;
  /** Base units, as the book has them. */
  readonly amount: bigint;
  readonly asset: Hex;
  readonly payTo: string;
}

/** @throws ChainUnavailableError */
export async function findPayer(chain: SellerChain, payment: PaymentOnChain): Promise<PayerSearch> {
  const txHash = payment.transaction?.toLowerCase();
  const mined = isHash(txHash) ? await chain.readTransaction(txHash) : null;
  if (mined === null || mined.receipt.status !== 'success') return { outcome: 'none', reason: 'not_on_chain' };
  const { receipt } = mined;
  const all = listTransfers(receipt.logs, payment.asset).filter(({ to }) => to === payment.payTo);
  const own = findOwn(all, payment);
  const [first, ...others] = own;
  if (first === undefined) return { outcome: 'none', reason: 'paid_nothing' };
  if (others.some(({ from }) => from !== first.from)) return { outcome: 'none', reason: 'unclear' };
  return {
    outcome: 'found',
    payer: {
      address: first.from,
      isContract: await chain.isContract(first.from),
      isOneOfSeveral: new Set(all.map(({ from }) => from)).size > 1,
      permit: payment.id.kind === 'transfer' ? findPermit(mined, first, payment.asset, chain.chainId) : null,
      amount: own.reduce((sum, { amountBaseUnits }) => sum + amountBaseUnits, 0n),
      minedAtMs: receipt.blockTimeMs ?? (await chain.readBlockTimeMs(receipt.blockNumber)),
    },
  };
}

/** Only a permit that was sent to its proxy directly can be presented after its settlement: see `findPermitUse`. */
function findPermit(
  { receipt, to, input }: MinedTransaction,
  { position, from }: PlacedTransfer,
  asset: Hex,
  chainId: number,
): string | null {
  const proxy = findPermitTransfers(receipt.logs, asset).get(position)?.proxy;
  if (proxy === undefined) return null;
  const call = to === proxy ? readPermitCall(proxy === PROXIES.exact ? 'exact' : 'upto', input) : null;
  if (call?.permit.from !== from) return 'unknown';
  return nameOfPayment({ kind: 'permit2', chainId, owner: from, nonce: call.permit.nonce });
}

/** Those that are the payment. A signed one has no index: of the signer's transfers, the first with its amount. */
function findOwn(all: readonly PlacedTransfer[], { id, amount }: PaymentOnChain): readonly PlacedTransfer[] {
  switch (id.kind) {
    case 'transfer':
      return all.filter(({ position }) => position === id.logIndex);
    case 'transaction':
      return all;
    case 'authorization':
    case 'permit2': {
      const signer = (id.kind === 'permit2' ? id.owner : id.from).toLowerCase();
      return all.filter((transfer) => transfer.from === signer && transfer.amountBaseUnits === amount).slice(0, 1);
    }
  }
}

import { listTransfers, type PlacedTransfer } from '@tollgate/chain';
import type { PaymentId } from '@tollgate/ledger';
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
  /** Of its block, in milliseconds since 1970. */
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
  readonly asset: string;
  readonly payTo: string;
}

/** @throws ChainUnavailableError */
export async function findPayer(chain: SellerChain, payment: PaymentOnChain): Promise<PayerSearch> {
  const txHash = payment.transaction?.toLowerCase();
  const receipt = isHash(txHash) ? await chain.readReceipt(txHash) : null;
  if (receipt === null || receipt.status !== 'success') return { outcome: 'none', reason: 'not_on_chain' };
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
      amount: own.reduce((sum, { amountBaseUnits }) => sum + amountBaseUnits, 0n),
      minedAtMs: receipt.blockTimeMs ?? (await chain.readBlockTimeMs(receipt.blockNumber)),
    },
  };
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

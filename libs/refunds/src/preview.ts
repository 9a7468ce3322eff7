import { readPaymentName } from '@tollgate/ledger';
import { z } from 'zod';

import { describeNoWallet } from './details.js';
import { findPayer, type PayerSearch, type ShownPayer } from './find-payer.js';
import type { BookTimes, PaymentToRefund, RefundPorts } from './ports.js';
import { nameRefund } from './refund-job.js';
import { findSentDoubts, nextNumber, refundSchema, sumOfRefunds } from './refund.js';

/** Why a payment cannot be refunded as it is asked for. */
const REFUND_OBSTACLES = [
  'not_on_chain',
  'paid_nothing',
  'unclear',
  'other_name',
  'book_incomplete',
  'withdrawn',
  'not_arrived',
  'other_asset',
  'other_recipient',
  'amount_differs',
  'answered',
  'nothing_left',
  'wallet_missing',
  'decimals_differ',
] as const;
export type RefundObstacle = (typeof REFUND_OBSTACLES)[number];

const recipient = z.object({ address: z.string(), kind: z.enum(['account', 'contract', 'one_of_several']) });
const shownTransfer = z.object({ log: z.int(), arrived: z.string() });

/** What a refund would do. Amounts are base units of the asset. */
export const refundPreview = z.object({
  payment: z.string(),
  number: z.int().describe("The number of the payment's next refund, which is part of its id."),
  id: z.string(),
  state: z.string().describe('Of the payment.'),
  chainId: z.int().describe('Of the payment, and of its refund.'),
  asset: z.string(),
  decimals: z.int(),
  arrived: z.string(),
  taken: z
    .string()
    .describe('What earlier refunds have taken, or may still take, whatever name they gave the same transfers.'),
  left: z.string(),
  recipient: recipient.nullable().describe('The payer that the chain shows; null where it shows none.'),
  shown: z
    .object({ transaction: z.string(), transfers: z.array(shownTransfer).readonly() })
    .nullable()
    .describe('Where the chain shows the money; null where it shows none.'),
  permit: z
    .string()
    .nullable()
    .describe(
      'The name of the permit that moved the money and is closed as well; null: none did, or it cannot be presented.',
    ),
  boughtAnswer: z
    .boolean()
    .describe('Whether the payment bought an answer: its refund is a separate act, and has to be meant.'),
  doubts: z
    .array(z.string())
    .readonly()
    .describe('Why the refund needs the approval of another API key, whatever its amount; empty: it does not.'),
  approvalAbove: z
    .string()
    .nullable()
    .describe(
      'Where all refunds of the payment are more than this, the refund needs an approval too; null: no amount does.',
    ),
  obstacles: z
    .array(z.object({ reason: z.enum(REFUND_OBSTACLES), detail: z.string() }))
    .readonly()
    .describe('Why it is not possible now; empty: it is.'),
  refunds: z.array(refundSchema).readonly(),
});
export type RefundPreview = z.output<typeof refundPreview>;

const NOT_MEANT =
  'The payment bought an answer. To refund it all the same, say so: `answered: true`, or tollgate refund --answered.';
const CONTRACT = 'The payer is a contract: what is sent there may be lost, or go to somebody else.';
const PERMIT_ELSEWHERE =
  'A permit moved the money, sent through another contract: make sure that its payer has not been served for it.';
const SEVERAL = 'Several payers paid in this transaction: make sure that this one asks for the refund.';
const MAYBE_SERVED =
  'Redis or the book lost data, or began, after the money had arrived: the payment may have bought an answer before.';
const MAYBE_PAID_BACK =
  'The book was restored, lost data or was begun after the money had arrived: it may have been paid back already. Look at the chain for a transfer from the refunds wallet to the payer, and approve this refund only if there is none.';
const DIFFERS =
  'Book and chain differ about this transaction (tollgate reconcile): find out first whose money it is, and whether it was paid back under another name.';
const NOT_BOOKED =
  'The book keeps an event of this payment or its transaction that it could not book: the payment may have bought an answer.';

const SEARCHES = {
  not_on_chain: 'The chain does not show the transaction of this payment as successful.',
  paid_nothing: 'The transaction shows no transfer of this payment to the recipient.',
  unclear: 'Several payers, or several permits, paid in this transaction, and the payment names none of them.',
};

/** Says what a refund would do, from the book and from the chain. Nothing is written. Null: the book has no such payment. */
export async function previewRefund(ports: RefundPorts, name: string): Promise<RefundPreview | null> {
  const { chain, book, settings } = ports;
  const { asset, recipients, decimals, names } = settings;
  const payment = await book.findPayment(name);
  const id = readPaymentName(name);
  if (payment === null || id === null) return null;
  const payTo = recipients.find((one) => one === payment.recipient) ?? recipients[0] ?? '';
  const arrived = BigInt(payment.amount ?? '0');
  const transaction = 'txHash' in id ? id.txHash : payment.transaction;
  const [times, bookedSinceMs, isUnapplied, searched, wallet, decimalsDiffer] = await Promise.all([
    book.readTimes(chain.chainId),
    // After a loss of data in Redis, the book has the earlier time for some seconds.
    ports.readBookedSinceMs(),
    book.hasUnapplied(name, transaction),
    findPayer(chain, { id, transaction, amount: arrived, asset, payTo }),
    ports.findWallet(),
    findOtherDecimals(ports),
  ]);
  const payer = searched.outcome === 'found' ? searched.payer : null;
  const [takenOfTransfers, isDifferent] =
    payer === null ? [0n, false] : await Promise.all([sumTaken(ports, payer), book.hasDifference(payer.transaction)]);
  // After what is taken: a refund that is asked for in between is seen as itself, not as another one that leaves nothing.
  const refunds = await book.listOf(name);
  const takenOfPayment = sumOfRefunds(refunds, BigInt(payment.refunded));
  const taken = takenOfTransfers > takenOfPayment ? takenOfTransfers : takenOfPayment;
  const number = nextNumber(refunds);
  const boughtAnswer = payment.reported.answered !== undefined;
  const isWithdrawn = payment.state === 'withdrawn';
  const left = isWithdrawn || arrived < taken ? 0n : arrived - taken;
  const obstacles: [RefundObstacle, boolean, string][] = [
    ['book_incomplete', times.completeFromMs === null, 'No process reports to the book: set BOOK=on.'],
    ['withdrawn', isWithdrawn, explainWithdrawn(payment)],
    ['not_arrived', arrived === 0n, 'The book does not know that money arrived for this payment.'],
    ['other_asset', payment.asset !== asset, `Its token is none that is sold in: ${names.token} is another one.`],
    ['other_recipient', payment.recipient !== payTo, `It went to no account of ${names.payTo}.`],
    ...(searched.outcome === 'none' ? [notFound(searched)] : []),
    ['amount_differs', payer !== null && payer.amount !== arrived, 'The chain shows another amount than the book.'],
    ['answered', boughtAnswer, NOT_MEANT],
    ['nothing_left', arrived > 0n && taken >= arrived, 'All of it is refunded, or about to be.'],
    ['wallet_missing', wallet === null, describeNoWallet(settings.walletName)],
    ['decimals_differ', decimalsDiffer !== null, decimalsDiffer ?? ''],
  ];
  return {
    payment: name,
    number,
    id: nameRefund(name, number),
    state: payment.state,
    chainId: chain.chainId,
    asset: payment.asset ?? asset,
    decimals,
    arrived: String(arrived),
    taken: String(taken),
    left: String(left),
    recipient: payer === null ? null : { address: payer.address, kind: kindOf(payer) },
    shown: payer === null ? null : { transaction: payer.transaction, transfers: payer.transfers },
    permit: payer === null || payer.permit === 'unknown' ? null : payer.permit,
    boughtAnswer,
    doubts: [
      ...findDoubts(payment, payer, { ...times, bookedSinceMs }),
      ...(isDifferent ? [DIFFERS] : []),
      ...(isUnapplied ? [NOT_BOOKED] : []),
      ...findSentDoubts(refunds),
    ],
    approvalAbove: settings.approvalAbove?.toString() ?? null,
    obstacles: obstacles.filter(([, holds]) => holds).map(([reason, , detail]) => ({ reason, detail })),
    refunds,
  };
}

/** Why the limits of refunds, which are whole units, do not hold; null: they do. */
export async function findOtherDecimals({ chain, settings }: RefundPorts): Promise<string | null> {
  const { asset, decimals, names } = settings;
  const reported = await chain.readDecimals(asset);
  if (reported === null || reported === BigInt(decimals)) return null;
  return `${names.decimals} is ${decimals}, but the token has ${reported}: the limits of refunds would not hold.`;
}

/** What refunds of any payment have taken of the transfers, or may still take: base units. */
async function sumTaken({ chain, book }: RefundPorts, { transaction, transfers }: ShownPayer): Promise<bigint> {
  const arrival = { chainId: chain.chainId, arrivedIn: transaction };
  const held = await book.readTransfers(
    arrival,
    transfers.map(({ log }) => log),
  );
  return held.reduce((sum, { taken }) => sum + BigInt(taken), 0n);
}

function notFound(search: Extract<PayerSearch, { outcome: 'none' }>): [RefundObstacle, boolean, string] {
  const detail =
    search.reason === 'other_name'
      ? `The chain shows this money as the payment ${search.name}. Refund that one.`
      : SEARCHES[search.reason];
  return [search.reason, true, detail];
}

/** Its money belongs to another payment by now, or is no longer on the chain. */
function explainWithdrawn({ reported: { bookedAs } }: PaymentToRefund): string {
  return bookedAs === undefined
    ? 'The chain no longer has the transaction of this payment, so its booking was taken back.'
    : `Its money is booked as the payment ${bookedAs.payment}. Refund that one.`;
}

function kindOf({ isContract, isOneOfSeveral }: ShownPayer): 'account' | 'contract' | 'one_of_several' {
  if (isContract) return 'contract';
  return isOneOfSeveral ? 'one_of_several' : 'account';
}

/** What a person has to look at. */
function findDoubts(
  { reported }: PaymentToRefund,
  payer: ShownPayer | null,
  { completeFromMs, gapEndMs, bookedSinceMs }: BookTimes & { readonly bookedSinceMs: number | null },
): string[] {
  const { refused, answered } = reported;
  const knownFromMs = Math.max(completeFromMs ?? Infinity, bookedSinceMs ?? Infinity);
  // The chain counts whole seconds.
  const isBefore = (atMs: number): boolean => payer === null || payer.minedAtMs < Math.floor(atMs / 1000) * 1000;
  const isOlder = refused?.failure === 'older_than_ledger' || isBefore(knownFromMs);
  return [
    ...(payer?.isContract === true ? [CONTRACT] : []),
    ...(payer?.permit === 'unknown' ? [PERMIT_ELSEWHERE] : []),
    ...(payer?.isOneOfSeveral === true ? [SEVERAL] : []),
    ...(answered === undefined && isOlder ? [MAYBE_SERVED] : []),
    ...(gapEndMs !== null && isBefore(gapEndMs) ? [MAYBE_PAID_BACK] : []),
  ];
}

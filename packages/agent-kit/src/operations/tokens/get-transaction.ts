import { isReceiptOf } from '@tollgate/client/internal';
import {
  formatEther,
  getAddress,
  isAddressEqual,
  TransactionNotFoundError,
  TransactionReceiptNotFoundError,
  type Address,
  type Hex,
  type PublicClient,
} from 'viem';
import { z } from 'zod';

import { createExplorerUrl } from '../../chain/monitor-transaction.js';
import { readFailure } from '../../chain/read-outcome.js';
import { marketFailures } from '../../protocols/lending/compound-failures.js';
import { describeMove, moveSchema, readTransfer, type Transfer } from '../../tokens/transfers.js';
import { AgentKitError } from '../../types/agent-kit-error.js';
import { NATIVE_TOKEN } from '../../types/token.js';
import { transactionHashSchema } from '../define/input-schemas.js';
import { defineRead, type OperationContext } from '../define/operation.js';

// Each distinct token among these may cost a request to the chain.
const MOST_MOVES = 30;

export const getTransaction = defineRead({
  name: 'getTransaction',
  title: 'Look at a transaction',
  description:
    'The outcome of any transaction: success, failed (mined, and reverted or refused), or pending (not mined yet); ' +
    'its receipt, and what it moved: native value sent along, ERC-20 and ERC-721 tokens. Check here before sending anything again.',
  input: z.object({ hash: transactionHashSchema }),
  output: z.object({
    status: z.enum(['success', 'failed', 'pending']),
    transactionHash: z.string(),
    explorerUrl: z.string().nullable().describe('Null if the chain has no explorer'),
    from: z.string(),
    to: z.string().nullable().describe('Null if it creates a contract'),
    value: z.string().describe('Native token sent along, in whole units; moved only if the receipt says success'),
    receipt: z
      .object({
        status: z.enum(['success', 'failed']).describe('Failed: it reverted'),
        blockNumber: z.string(),
        gasUsed: z.string(),
        fee: z.string().describe('Cost of the gas, in whole units of the native token'),
      })
      .nullable()
      .describe('Null while it is pending'),
    moved: z.array(moveSchema).describe('The account’s own first; native token passed on by contracts is not included'),
    isCut: z.boolean().describe('Whether it moved more than is listed'),
    error: z.string().optional().describe('Why it failed'),
    code: z.string().optional(),
    suggestion: z.string().optional(),
  }),
  async read({ hash }, context) {
    const { transaction, receipt } = await readTransaction(context.client, hash);
    const { value } = transaction;
    const from = getAddress(transaction.from);
    const to = transaction.to && getAddress(transaction.to);
    const seen = {
      transactionHash: hash,
      explorerUrl: createExplorerUrl(context.explorerUrl, `tx/${hash}`),
      from,
      to,
      value: formatEther(value),
    };
    if (receipt === null) return { status: 'pending' as const, ...seen, receipt, moved: [], isCut: false };
    const isMined = receipt.status === 'success';
    const target = to ?? (receipt.contractAddress ? getAddress(receipt.contractAddress) : null);
    const native: Transfer[] =
      isMined && value > 0n && target ? [{ token: NATIVE_TOKEN, from, to: target, amountBaseUnits: value }] : [];
    const logged = receipt.logs.flatMap((log) => readTransfer(log) ?? []);
    const transfers = orderByAccount([...native, ...logged], context.account);
    const failure = await findFailure(context, transaction, receipt);
    return {
      status: failure ? ('failed' as const) : ('success' as const),
      ...seen,
      receipt: {
        status: isMined ? ('success' as const) : ('failed' as const),
        blockNumber: receipt.blockNumber.toString(),
        gasUsed: receipt.gasUsed.toString(),
        fee: formatEther(receipt.gasUsed * receipt.effectiveGasPrice),
      },
      moved: await Promise.all(transfers.slice(0, MOST_MOVES).map((transfer) => describeMove(context, transfer))),
      isCut: transfers.length > MOST_MOVES,
      ...(failure && { error: failure.message, code: failure.code, suggestion: failure.suggestion }),
    };
  },
});

type Transaction = Awaited<ReturnType<PublicClient['getTransaction']>>;
type MinedTransaction = Awaited<ReturnType<PublicClient['getTransactionReceipt']>>;

/** @throws AgentKitError `UNKNOWN_TRANSACTION`; `NETWORK_ERROR` */
async function readTransaction(
  client: PublicClient,
  hash: Hex,
): Promise<{ transaction: Transaction; receipt: MinedTransaction | null }> {
  const [transaction, receipt] = await Promise.all([
    client.getTransaction({ hash }).catch(ignoreMissing),
    client.getTransactionReceipt({ hash }).catch(ignoreMissing),
  ]);
  const isMined = receipt !== null && isReceiptOf(receipt, hash);
  if (transaction) return { transaction, receipt: isMined ? receipt : null };
  if (isMined) throw new AgentKitError('NETWORK_ERROR', 'The network has a receipt without its transaction.');
  throw new AgentKitError(
    'UNKNOWN_TRANSACTION',
    `No node asked knows transaction ${hash} on this chain: it was not sent, was dropped, or belongs to another chain.`,
    { details: { txHash: hash } },
  );
}

function ignoreMissing(error: unknown): null {
  if (error instanceof TransactionNotFoundError || error instanceof TransactionReceiptNotFoundError) return null;
  throw error;
}

/** A lending market's refusal is mined with a success receipt, and reported by an event. */
async function findFailure(
  { client }: OperationContext,
  { from, to, input, value }: Transaction,
  receipt: MinedTransaction,
): Promise<AgentKitError | null> {
  if (to) {
    return readFailure({ client, account: from }, { to, data: input, value, failures: marketFailures }, receipt);
  }
  return receipt.status === 'success' ? null : new AgentKitError('REVERTED', 'The creation of the contract reverted.');
}

/** The account's own transfers before those of others, each in the order of the logs. */
function orderByAccount(transfers: readonly Transfer[], account: Address): Transfer[] {
  const isOwn = ({ from, to }: Transfer) => [from, to].some((address) => isAddressEqual(address, account));
  return [...transfers.filter(isOwn), ...transfers.filter((transfer) => !isOwn(transfer))];
}

import type { Balance } from '@tollgate/book';
import { numberToHex } from 'viem';

import type { AskOperator } from '../harness/agents/operator-client.js';
import type { TokenTransferred } from '../harness/payments/read-transfers.js';
import type { SignedSales } from '../harness/stack/use-signed-sales.js';

/** The last answer that a client got for a payment. */
export interface LastAnswer {
  outcome: 'answered' | 'released' | 'refused' | 'refunded';
  /** The transaction; of a signed payment, its nonce. */
  transaction: string | null;
  nonce: string | null;
}

/** A payment as `tollgate export payments` prints it. */
export interface ExportedPayment {
  id: string;
  state: string;
  amount: string;
  transaction: string;
  payer: string;
}

export interface BookFaults {
  /** Transfers on the chain that the book does not have. */
  lost: string[];
  /** Payments in the book that the chain does not have, or that it has once for several. */
  doubled: string[];
  /** Payments whose state in the book is not that of the last answer. */
  different: string[];
}

export async function exportPayments(ask: AskOperator): Promise<ExportedPayment[]> {
  const lines = (await ask('exports/payments?format=jsonl')).split('\n');
  return lines.filter(Boolean).map((line) => JSON.parse(line) as ExportedPayment);
}

/** Compares the payments of the book with the transfers to the recipient and with the last answers to the clients. */
export function judgePayments(
  payments: readonly ExportedPayment[],
  transfers: readonly TokenTransferred[],
  lastAnswers: readonly LastAnswer[],
): BookFaults {
  const onChain = new Map(transfers.map((transfer) => [nameTransfer(transfer), transfer]));
  const booked = new Map<string, ExportedPayment[]>();
  for (const payment of payments) {
    const name = nameBooked(payment);
    booked.set(name, [...(booked.get(name) ?? []), payment]);
  }
  const isAsBooked = (name: string, { outcome }: LastAnswer): boolean => booked.get(name)?.[0]?.state === outcome;
  return {
    lost: [...onChain.keys()].filter((name) => !booked.has(name)),
    doubled: [...booked].flatMap(([name, several]) => (several.length > 1 || !onChain.has(name) ? [name] : [])),
    different: lastAnswers.flatMap((one) => {
      const transfer = transfers.find(({ txHash, nonce }) =>
        one.nonce === null ? nonce === null && txHash === one.transaction : nonce === one.nonce,
      );
      const name = transfer === undefined ? `nothing for ${JSON.stringify(one)}` : nameTransfer(transfer);
      return isAsBooked(name, one) ? [] : [`${name}: ${one.outcome}`];
    }),
  };
}

/** Payer, amount, and the authorization or the transaction. */
function nameTransfer({ from, amountBaseUnits, nonce, txHash }: TokenTransferred): string {
  return [from, amountBaseUnits, nonce ?? txHash].join(' ');
}

function nameBooked({ id, payer, amount, transaction }: ExportedPayment): string {
  const [, nonce] = /^auth:[^:]+:[^:]+:[^:]+:([^:]+):/.exec(id) ?? [];
  return [payer, amount, nonce ?? transaction].join(' ');
}

/** The balance of each account, in base units, of one asset. */
export function balancesOf(balances: readonly Balance[], isNative: boolean): Map<string, bigint> {
  return new Map(
    balances
      .filter(({ asset }) => asset.endsWith(':native') === isNative)
      .map(({ account, amount }) => [account, BigInt(amount)]),
  );
}

/** What the transactions of the relayers after this block have cost on the chain, in wei, by account. */
export async function readGasCosts({ chain, rpc }: SignedSales, afterBlock: number): Promise<Map<string, bigint>> {
  const costs = new Map(chain.relayers.map(({ address }) => [`gas:${address.toLowerCase()}`, 0n]));
  const head = Number(await rpc('eth_blockNumber'));
  for (let block = afterBlock + 1; block <= head; block++) {
    const receipts = (await rpc('eth_getBlockReceipts', [numberToHex(block)])) as {
      from: string;
      gasUsed: string;
      effectiveGasPrice: string;
    }[];
    for (const { from, gasUsed, effectiveGasPrice } of receipts) {
      const account = `gas:${from.toLowerCase()}`;
      const cost = costs.get(account);
      if (cost !== undefined) costs.set(account, cost + BigInt(gasUsed) * BigInt(effectiveGasPrice));
    }
  }
  return costs;
}

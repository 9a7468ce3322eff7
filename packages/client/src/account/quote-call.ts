import { addGasMargin, highestPrice, quoteFees, type HeadFees, type Hex } from '@tollgate/protocol';
import type { PublicClient } from 'viem';

import type { Call } from './wallet.js';

/** The gas limit and the fees of a call, as the head of the chain asks for them. */
export interface Quote {
  gas: bigint;
  fees: HeadFees;
  /** The most that it can take from the account, in wei. */
  needed: bigint;
}

/** How many numbers the random digits of the gas limit and of the fee (in wei) can be: 2^30 together. */
const GAS_DIGITS = 2 ** 10;
const FEE_DIGITS = 2 ** 20;

/**
 * Both have random low digits, so that no two calls have the same bytes, not even of processes that share a key and have
 * taken the same nonce. The fee rises by less than a thousandth of a gwei, and the gas limit stays above the estimate.
 * @throws what the client throws, also when the call would fail
 */
export async function quoteCall(client: PublicClient, from: Hex, call: Call): Promise<Quote> {
  const { to, data, value = 0n } = call;
  const [head, estimate] = await Promise.all([
    readHeadTerms(client),
    call.gas ?? client.estimateGas({ account: from, to, data, value }),
  ]);
  const fees = addDigits(head.fees);
  const limit = addGasMargin(estimate, head.blockGasLimit) - randomBelow(GAS_DIGITS);
  const gas = limit > estimate ? limit : estimate;
  return { gas, fees, needed: value + gas * highestPrice(fees) };
}

/** What the head of the chain asks of the next transaction. */
export interface HeadTerms {
  /** EIP-1559 if it has a base fee, otherwise a gas price. */
  fees: HeadFees;
  blockGasLimit: bigint;
}

export async function readHeadTerms(client: PublicClient): Promise<HeadTerms> {
  const head = await client.getBlock();
  return { fees: await quoteHead(client, head), blockGasLimit: head.gasLimit };
}

async function quoteHead(client: PublicClient, { baseFeePerGas }: { baseFeePerGas: bigint | null }): Promise<HeadFees> {
  if (baseFeePerGas === null) return { type: 'legacy', gasPrice: await client.getGasPrice() };
  const suggestedPriorityFee = await client.estimateMaxPriorityFeePerGas({ chain: null });
  return { type: 'eip1559', ...quoteFees({ baseFeePerGas, suggestedPriorityFee }) };
}

function addDigits(fees: HeadFees): HeadFees {
  const more = randomBelow(FEE_DIGITS);
  return fees.type === 'legacy'
    ? { ...fees, gasPrice: fees.gasPrice + more }
    : { ...fees, maxFeePerGas: fees.maxFeePerGas + more };
}

/** @param limit a power of 2, up to 2^32 */
function randomBelow(limit: number): bigint {
  const [number = 0] = crypto.getRandomValues(new Uint32Array(1));
  return BigInt(number % limit);
}

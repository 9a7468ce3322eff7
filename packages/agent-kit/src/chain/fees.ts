import type { PublicClient } from 'viem';

type Fees =
  | { type: 'eip1559'; maxFeePerGas: bigint; maxPriorityFeePerGas: bigint }
  | { type: 'legacy'; gasPrice: bigint };

/** The most that a unit of gas may cost, in wei. */
export function readPrice(fees: Fees): bigint {
  return fees.type === 'legacy' ? fees.gasPrice : fees.maxFeePerGas;
}

/** EIP-1559 fees if the chain has a base fee, otherwise a gas price. */
export async function readFees({ client }: { client: PublicClient }): Promise<Fees> {
  const block = await client.getBlock();
  if (block.baseFeePerGas === null) return { type: 'legacy', gasPrice: await client.getGasPrice() };
  const fees = await client.estimateFeesPerGas({ type: 'eip1559', chain: null });
  return { type: 'eip1559', maxFeePerGas: fees.maxFeePerGas, maxPriorityFeePerGas: fees.maxPriorityFeePerGas };
}

import type { Address, PublicClient } from 'viem';

import { explainFailure } from '../chain/explain-failure.js';
import type { Step } from '../types/plan.js';

/** A step that can be sent now. */
export interface SettledStep extends Step {
  gasLimit: bigint;
}

// Used if the node cannot simulate a step after the ones before it.
const UNKNOWN_GAS_LIMIT = 1_500_000n;

/**
 * Half as much again; unused gas is not charged. Rewards and interest that accrue until the next block write storage
 * that an estimate in the same second does not, and a refund comes only after its gas was needed.
 */
export function addGasMargin(gas: bigint): bigint {
  return (gas * 3n) / 2n;
}

/** The gas limit of a step, from the gas it used in a simulation, which is reported after a refund of up to a fifth. */
export function gasLimitOf(used: bigint | undefined): bigint {
  return used === undefined ? UNKNOWN_GAS_LIMIT : addGasMargin((used * 5n) / 4n);
}

/**
 * The steps with their gas limits. If they could not be simulated together, the first one, which is sent next, is
 * estimated.
 * @throws AgentKitError when the first would fail.
 */
export async function limitGas(
  client: PublicClient,
  account: Address,
  steps: readonly Step[],
  gas: readonly bigint[] | null,
): Promise<readonly SettledStep[]> {
  if (gas) return steps.map((step, index) => ({ ...step, gasLimit: gasLimitOf(gas[index]) }));
  const [first, ...later] = steps;
  if (!first) return [];
  const { to, data, value, failures } = first;
  const estimate = await client.estimateGas({ account, to, data, value }).catch((error: unknown) => {
    throw explainFailure(error, failures);
  });
  return [
    { ...first, gasLimit: addGasMargin(estimate) },
    ...later.map((step) => ({ ...step, gasLimit: gasLimitOf(undefined) })),
  ];
}

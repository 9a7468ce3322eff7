import { explainFailure } from '../chain/explain-failure.js';
import type { AccountReader } from '../types/account-reader.js';
import { AgentKitError } from '../types/agent-kit-error.js';
import type { Step } from '../types/plan.js';

/** A step that can be sent now. */
export interface SettledStep extends Step {
  gasLimit: bigint;
}

// Used if the node cannot simulate a step after the ones before it.
const UNKNOWN_GAS_LIMIT = 1_500_000n;

/** What nodes compute gas in; above it a number is a node's mistake. */
const MOST_GAS = 2n ** 64n - 1n;

/**
 * Half as much again; unused gas is not charged. Rewards and interest that accrue until the next block write storage
 * that an estimate in the same second does not, and a refund comes only after its gas was needed.
 * @throws AgentKitError `NETWORK_ERROR` for more gas than there can be.
 */
export function addGasMargin(gas: bigint): bigint {
  const limit = (gas * 3n) / 2n;
  if (limit > MOST_GAS) throw new AgentKitError('NETWORK_ERROR', 'The network reports an impossible amount of gas.');
  return limit;
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
  { client, account }: AccountReader,
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

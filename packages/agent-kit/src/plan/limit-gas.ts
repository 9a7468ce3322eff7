import { addGasMargin } from '@tollgate/protocol';

import { explainFailure } from '../chain/explain-failure.js';
import type { AccountReader } from '../types/account-reader.js';
import { AgentKitError } from '../types/agent-kit-error.js';
import type { Step } from '../types/plan.js';

/** A step that can be sent now. */
export interface SettledStep extends Step {
  gasLimit: bigint;
}

/** Steps, the gas that each used in the simulation, if there was one, and the gas limit of the chain's head. */
interface SimulatedSteps {
  steps: readonly Step[];
  gas: readonly bigint[] | null;
  blockGasLimit: bigint;
}

// Used if the node cannot simulate a step after the ones before it.
const UNKNOWN_GAS = 1_000_000n;
/** What nodes compute gas in; above it a number is a node's mistake. */
const MOST_GAS = 2n ** 64n - 1n;

/** The gas that a step needs, from what it used in a simulation, which is reported after a refund of up to a fifth. */
export function estimateOf(used: bigint | undefined): bigint {
  return used === undefined ? UNKNOWN_GAS : (used * 5n) / 4n;
}

/**
 * The steps with their gas limits. If they could not be simulated together, the first one, which is sent next, is
 * estimated.
 * @throws AgentKitError when the first would fail.
 */
export async function limitGas(
  { client, account }: AccountReader,
  { steps, gas, blockGasLimit }: SimulatedSteps,
): Promise<readonly SettledStep[]> {
  const [first] = steps;
  if (!first) return [];
  const { to, data, value, failures } = first;
  const estimate =
    gas === null &&
    (await client.estimateGas({ account, to, data, value }).catch((error: unknown) => {
      throw explainFailure(error, failures);
    }));
  return steps.map((step, index) => {
    const needed = index === 0 && estimate !== false ? estimate : estimateOf(gas?.[index]);
    if (needed > MOST_GAS) {
      throw new AgentKitError('NETWORK_ERROR', 'The network reports an impossible amount of gas.');
    }
    if (needed > blockGasLimit) {
      throw new AgentKitError('GAS_ESTIMATION_FAILED', `More gas is needed than a block has: ${step.label}.`);
    }
    return { ...step, gasLimit: addGasMargin(needed, blockGasLimit) };
  });
}

import { addGasMargin } from '@tollgate/protocol';

import { explainFailure } from '../chain/explain-failure.js';
import type { AccountReader } from '../types/account-reader.js';
import { AgentKitError } from '../types/agent-kit-error.js';
import type { Step } from '../types/plan.js';

/** A step that can be sent now. */
export interface SettledStep extends Step {
  gasLimit: bigint;
}

// Used if the node cannot simulate a step after the ones before it.
const UNKNOWN_GAS = 1_000_000n;

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
  steps: readonly Step[],
  gas: readonly bigint[] | null,
): Promise<readonly SettledStep[]> {
  const [first] = steps;
  if (!first) return [];
  const { to, data, value, failures } = first;
  const [{ gasLimit: blockGasLimit }, estimate] = await Promise.all([
    client.getBlock(),
    gas === null &&
      client.estimateGas({ account, to, data, value }).catch((error: unknown) => {
        throw explainFailure(error, failures);
      }),
  ]);
  return steps.map((step, index) => {
    const needed = index === 0 && estimate !== false ? estimate : estimateOf(gas?.[index]);
    if (needed > blockGasLimit) {
      throw new AgentKitError('GAS_ESTIMATION_FAILED', `More gas is needed than a block has: ${step.label}.`);
    }
    return { ...step, gasLimit: addGasMargin(needed, blockGasLimit) };
  });
}

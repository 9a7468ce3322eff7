import { BaseError, type Hex } from 'viem';

import { explainFailure, explainRevert } from '../chain/explain-failure.js';
import { readNextBlock } from '../chain/read-next-block-time.js';
import { findReportedFailure } from '../chain/read-outcome.js';
import type { AccountReader } from '../types/account-reader.js';
import type { AgentKitError } from '../types/agent-kit-error.js';
import type { Step } from '../types/plan.js';

/**
 * Runs all the steps in order on the newest block, sending nothing. Approvals must be settled.
 * @returns the gas that each took, or null if the node cannot simulate several calls: then only the first step was
 * tried.
 * @throws AgentKitError for the first step that would fail.
 */
export async function simulateSteps(reader: AccountReader, steps: readonly Step[]): Promise<bigint[] | null> {
  const [first] = steps;
  if (!first) return [];
  try {
    return await simulateTogether(reader, steps);
  } catch (error) {
    if (!isUnsupported(error)) throw explainFailure(error, steps.length === 1 ? first.failures : undefined);
  }
  await simulateAlone(reader, first);
  return null;
}

async function simulateTogether(reader: AccountReader, steps: readonly Step[]): Promise<bigint[]> {
  const { client, account } = reader;
  const calls = steps.map(({ to, data, value }) => ({ account, to, data, value }));
  // A simulation uses the time of its block unless another is given; on a later block, that time could be in the past.
  const { time, parentNumber } = await readNextBlock(client);
  const blocks = [{ calls, blockOverrides: { time } }];
  const [block] = await client.simulateBlocks({ blocks, blockNumber: parentNumber }).catch((error: unknown) => {
    // There may be several nodes behind one address, and this one does not have that block.
    if (isUnknownBlock(error)) return client.simulateBlocks({ blocks });
    throw error;
  });
  const gas: bigint[] = [];
  for (const [index, step] of steps.entries()) {
    const result = block?.calls[index];
    if (!result) throw new BaseError('the node simulated fewer calls than it was given');
    if (result.status === 'failure') throw await explainRefusal(reader, step, { index, data: result.data });
    const failure = findReportedFailure(step, { data: result.data, logs: result.logs ?? [] });
    if (failure) throw failure;
    gas.push(result.gasUsed);
  }
  return gas;
}

/**
 * In a simulation, a step that ran out of gas looks like one that reverted without a reason; tried alone it gives more
 * details.
 */
async function explainRefusal(
  { client, account }: AccountReader,
  { to, data, value, failures }: Step,
  refusal: { index: number; data: Hex | undefined },
): Promise<AgentKitError> {
  const isSilent = refusal.data === undefined || refusal.data === '0x';
  if (!isSilent || refusal.index > 0) return explainRevert(refusal.data ?? '0x', failures);
  return client.call({ account, to, data, value }).then(
    () => explainRevert('0x', failures),
    (error: unknown) => explainFailure(error, failures),
  );
}

async function simulateAlone({ client, account }: AccountReader, step: Step): Promise<void> {
  try {
    const { data } = await client.call({ account, to: step.to, data: step.data, value: step.value });
    const failure = findReportedFailure(step, { data: data ?? '0x', logs: [] });
    if (failure) throw failure;
  } catch (error) {
    throw explainFailure(error, step.failures);
  }
}

function isUnknownBlock(error: unknown): boolean {
  return error instanceof BaseError && /(header|block) not found|unknown block|missing trie/i.test(error.details);
}

/** Nodes without `eth_simulateV1` report that with various codes and texts. */
function isUnsupported(error: unknown): boolean {
  if (!(error instanceof BaseError)) return false;
  const numbers = [-32601, -32004];
  const isNumbered = error.walk((cause) => numbers.includes(Number((cause as { code?: unknown }).code)));
  return (
    isNumbered !== null || /method.{0,40}(not|un)|unsupported|not (supported|available|found)/i.test(error.details)
  );
}

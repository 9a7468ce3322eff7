import { z } from 'zod';

import { defineWrite, type OperationPlugin, type PlanDraft, type Step } from '../../../packages/agent-kit/src/index.js';

/** A plan with these steps and, by default, no spending and no recipients. */
export function draft(steps: readonly Partial<Step>[], rest: Partial<PlanDraft> = {}): PlanDraft {
  return {
    summary: 'Try something out',
    steps: steps.map((step, index) => ({
      label: `Step ${index + 1}`,
      to: '0x00000000000000000000000000000000000a11ce',
      data: '0x',
      value: 0n,
      ...step,
    })),
    spends: [],
    receives: [],
    recipients: [],
    ...rest,
  };
}

/** An operation `tryOut` for one test, with the plan that the test sets at the moment. */
export function draftPlugin(create: () => PlanDraft | Promise<PlanDraft>): OperationPlugin {
  const tryOut = defineWrite({
    name: 'tryOut',
    title: 'Try out',
    description: 'Whatever the test wants.',
    input: z.object({}),
    plan: async () => create(),
  });
  return { kind: 'operations', name: 'draft', chainIds: 'any', operations: [tryOut] };
}

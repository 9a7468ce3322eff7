import { createSteps } from '../../plan/create-steps.js';
import { showAmount } from '../../tokens/show-token.js';
import { defineWrite } from '../define/operation.js';
import { warnOfUnlisted } from '../define/quote-pair.js';
import { readDeadline } from '../define/read-deadline.js';
import { WRITE_OPERATIONS } from '../define/write-operations.js';

export const removeLiquidity = defineWrite({
  name: 'removeLiquidity',
  ...WRITE_OPERATIONS.removeLiquidity,
  async plan({ positionId, percent = 100, slippageBps: tolerance }, context) {
    const slippageBps = tolerance ?? context.slippageBps;
    const { deadlineSeconds, expiresAtMs } = await readDeadline(context.client);
    const action = await context.protocols.require('liquidity').createRemove({
      positionId: BigInt(positionId),
      percent,
      slippageBps,
      recipient: context.account,
      deadlineSeconds,
    });
    const [minimumA, minimumB] = action.minimums;
    return {
      summary: `Remove ${percent} % of position ${BigInt(positionId)} for at least ${showAmount(minimumA)} and ${showAmount(minimumB)}`,
      steps: createSteps(action),
      spends: [],
      receives: action.minimums,
      recipients: [],
      slippageBps,
      warnings: warnOfUnlisted(action.minimums.map(({ token }) => token)),
      expiresAtMs,
    };
  },
});

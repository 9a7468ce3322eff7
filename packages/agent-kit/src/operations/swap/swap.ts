import { formatTokenAmount } from '@tollgate/protocol';

import { createSteps } from '../../plan/create-steps.js';
import { subtractSlippage } from '../../protocols/subtract-slippage.js';
import { assertBalance } from '../../tokens/assert-balance.js';
import { showAmount } from '../../tokens/show-token.js';
import { defineWrite } from '../define/operation.js';
import { quotePair, resolvePair } from '../define/quote-pair.js';
import { readDeadline } from '../define/read-deadline.js';
import { WRITE_OPERATIONS } from '../define/write-operations.js';

export const swap = defineWrite({
  name: 'swap',
  ...WRITE_OPERATIONS.swap,
  async plan(input, context) {
    const { sold, to } = await resolvePair(input, context);
    await assertBalance(context, sold, 'Insufficient balance for swap');
    const quote = await quotePair({ sold, to }, context);
    const slippageBps = quote.isOneToOne ? 0 : (input.slippageBps ?? context.slippageBps);
    const minimum = { token: to, amountBaseUnits: subtractSlippage(quote.expectedOut, slippageBps) };
    const { deadlineSeconds, expiresAtMs } = await readDeadline(context.client);
    const action = await quote.createSwap({
      minimumOut: minimum.amountBaseUnits,
      slippageBps,
      recipient: context.account,
      deadlineSeconds,
    });
    return {
      summary: quote.isOneToOne
        ? `Exchange ${showAmount(sold)} for ${showAmount(minimum)}, one to one`
        : `Swap ${showAmount(sold)} for at least ${showAmount(minimum)}`,
      steps: createSteps(action),
      spends: [sold],
      receives: [minimum],
      recipients: [],
      fees: quote.fees,
      ...(quote.isOneToOne ? {} : { slippageBps }),
      warnings: quote.warnings,
      report: {
        fromToken: sold.token.symbol,
        toToken: to.symbol,
        amount: formatTokenAmount(sold.amountBaseUnits, sold.token.decimals),
        ...(quote.isOneToOne && { received: formatTokenAmount(minimum.amountBaseUnits, to.decimals) }),
      },
      expiresAtMs,
    };
  },
});

import { isContractCode } from '@tollgate/protocol';
import { encodeFunctionData, erc20Abi, getAddress, isAddressEqual, type Address } from 'viem';

import { assertBalance } from '../../tokens/balance.js';
import { parseAmount } from '../../tokens/parse-amount.js';
import { previewTransfer } from '../../tokens/preview-transfer.js';
import { formatAmount, showAmount, showToken } from '../../tokens/show-token.js';
import { ERC20_FAILURES } from '../../tokens/token-failures.js';
import { AgentKitError } from '../../types/agent-kit-error.js';
import type { Step } from '../../types/plan.js';
import { NATIVE_TOKEN, type TokenAmount } from '../../types/token.js';
import { defineListed, type OperationContext } from '../define/operation.js';

export const transfer = defineListed('transfer', async (input, context) => {
  const to = getAddress(input.to);
  const token = await context.tokens.resolve(input.token ?? NATIVE_TOKEN);
  if (!token.isNative && isAddressEqual(to, token.address)) {
    const lost = `${to} is the contract of ${showToken(token)} itself: tokens sent there are lost.`;
    throw new AgentKitError('INVALID_INPUT', lost, { details: { to } });
  }
  const amount = parseAmount(input.amount, token);
  await assertBalance(context, amount);
  const label = `Send ${showAmount(amount)} to ${to}`;
  return {
    summary: label,
    steps: [{ label, ...createCall(amount, to) }],
    spends: [amount],
    receives: [],
    recipients: [to],
    warnings: await listWarnings(context, amount, to),
    report: { amount: formatAmount(amount), token: token.symbol, to },
  };
});

function createCall({ token, amountBaseUnits }: TokenAmount, to: Address): Omit<Step, 'label'> {
  if (token.isNative) return { to, data: '0x', value: amountBaseUnits };
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args: [to, amountBaseUnits] });
  return { to: token.address, data, value: 0n, failures: ERC20_FAILURES };
}

async function listWarnings(context: OperationContext, amount: TokenAmount, to: Address): Promise<string[]> {
  const { token, amountBaseUnits } = amount;
  if (isAddressEqual(to, context.account)) return ['The recipient is the account itself: only fees are spent.'];
  const warnings: string[] = [];
  if (isContractCode(await context.client.getCode({ address: to }))) {
    warnings.push('The recipient is a contract: make sure that it can send the tokens on.');
  }
  if (token.isNative) return warnings;
  const arriving = await previewTransfer(context, amount, to);
  if (arriving === null && !token.isListed) {
    warnings.push('The token is not listed, and it is not known how much of the amount arrives.');
  } else if (arriving !== null && arriving < amountBaseUnits) {
    const least = showAmount({ token, amountBaseUnits: arriving < 0n ? 0n : arriving });
    warnings.push(`The token keeps a part of each transfer: only ${least} arrive.`);
  }
  return warnings;
}

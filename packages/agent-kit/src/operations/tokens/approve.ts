import { isContractCode } from '@tollgate/protocol';
import { erc20Abi, getAddress, isAddressEqual, type Address } from 'viem';

import { readAllowance } from '../../tokens/balance.js';
import { encodeApproval } from '../../tokens/create-steps.js';
import { parseAmount } from '../../tokens/parse-amount.js';
import { formatAmount, showAmount, showSymbol, showToken } from '../../tokens/show-token.js';
import { ERC20_FAILURES } from '../../tokens/token-failures.js';
import { AgentKitError } from '../../types/agent-kit-error.js';
import type { Step } from '../../types/plan.js';
import type { Token, TokenAmount } from '../../types/token.js';
import { defineListed, type OperationContext } from '../define/operation.js';

export const approve = defineListed('approve', async (input, context) => {
  const spender = getAddress(input.spender);
  const token = await context.tokens.resolve(input.token);
  if (token.isNative) throw refuse(`${token.symbol} is the native token, which needs no approval.`, spender);
  const amount = /[1-9]/.test(input.amount) ? parseAmount(input.amount, token) : { token, amountBaseUnits: 0n };
  await assertLimited(context, amount, spender);
  const isRevocation = amount.amountBaseUnits === 0n;
  const label = isRevocation
    ? `Take back the approval of ${showToken(token)} for ${spender}`
    : `Let ${spender} take exactly ${showAmount(amount)}`;
  const present = await readAllowance(context, { token, spender });
  return {
    summary: label,
    steps: [
      // Some tokens refuse to change an allowance that is not 0, and during a direct change a spender could take both
      // amounts.
      ...(present > 0n && !isRevocation
        ? [createApproval(`Set the approval for ${spender} to 0 first`, token, spender, 0n)]
        : []),
      createApproval(label, token, spender, amount.amountBaseUnits),
    ],
    spends: isRevocation ? [] : [amount],
    receives: [],
    recipients: isRevocation ? [] : [spender],
    warnings: isRevocation ? [] : await listWarnings(context, spender),
    report: { amount: formatAmount(amount), token: token.symbol, spender },
  };
});

function refuse(message: string, spender: Address): AgentKitError {
  return new AgentKitError('INVALID_INPUT', message, { details: { spender } });
}

/** More than the total supply is equivalent to unlimited. */
async function assertLimited({ client }: OperationContext, amount: TokenAmount, spender: Address): Promise<void> {
  const { token, amountBaseUnits } = amount;
  if (amountBaseUnits === 0n) return;
  const supply = await client.readContract({ address: token.address, abi: erc20Abi, functionName: 'totalSupply' });
  // A token may report a false supply.
  if (amountBaseUnits <= supply && amountBaseUnits < 2n ** 255n) return;
  throw refuse(
    `Approvals are exact and never unlimited; this is more than the total supply of ${showSymbol(token)}. Give the amount that is needed.`,
    spender,
  );
}

// Without `approval`: the executor revokes the rest of a plan's own approvals afterwards, but this one must stay.
function createApproval(label: string, token: Token, spender: Address, amountBaseUnits: bigint): Step {
  return { label, ...encodeApproval({ token, spender, amountBaseUnits }), failures: ERC20_FAILURES };
}

async function listWarnings({ client, account }: OperationContext, spender: Address): Promise<string[]> {
  if (isAddressEqual(spender, account)) return ['The spender is the account itself, which needs no approval.'];
  if (isContractCode(await client.getCode({ address: spender }))) return [];
  return ['The spender is not a contract but an ordinary account: requests for such approvals are often scams.'];
}

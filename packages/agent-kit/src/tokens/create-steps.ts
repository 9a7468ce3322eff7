import { encodeFunctionData, erc20Abi } from 'viem';

import type { Approval, ProtocolAction, Step } from '../types/plan.js';
import { showAmount, showToken } from './show-token.js';
import { ERC20_FAILURES } from './token-failures.js';

/** The approvals of an action, each for the exact amount, and then its calls. */
export function createSteps({ approvals, calls }: ProtocolAction): Step[] {
  return [...approvals.map(createApprovalStep), ...calls];
}

/** The executor skips it when the allowance is already there, and revokes what is left of it afterwards. */
export function createApprovalStep(approval: Approval): Step {
  return {
    label: `Approve exactly ${showAmount(approval)} for ${approval.spender}`,
    ...encodeApproval(approval),
    failures: ERC20_FAILURES,
    approval,
  };
}

/** Sets an allowance to 0. */
export function createRevocation({ token, spender }: Pick<Approval, 'token' | 'spender'>): Step {
  return {
    label: `Take back what is left of the allowance of ${showToken(token)} for ${spender}`,
    ...encodeApproval({ token, spender, amountBaseUnits: 0n }),
  };
}

/** The call that sets an allowance, whatever it was before. */
export function encodeApproval({ token, spender, amountBaseUnits }: Approval): Pick<Step, 'to' | 'data' | 'value'> {
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [spender, amountBaseUnits] });
  return { to: token.address, data, value: 0n };
}

import { parseTokenAmount, PERMIT2_ADDRESS, type AnySignedMethod, type PaymentErrorCode } from '@tollgate/protocol';
import { getAddress, type Address } from 'viem';

import { readAllowance } from '../tokens/balance.js';
import { createRevocation, encodeApproval } from '../tokens/create-steps.js';
import { showAmount } from '../tokens/show-token.js';
import { ERC20_FAILURES } from '../tokens/token-failures.js';
import type { AccountReader } from '../types/account-reader.js';
import type { Step } from '../types/plan.js';
import type { TokenAmount } from '../types/token.js';
import type { PaymentLimits } from './payment-limits.js';

/** What to do where a payment fails because an allowance is missing. */
export const APPROVAL_SUGGESTIONS: Partial<Record<PaymentErrorCode, string>> = {
  permit2_allowance_missing:
    'Nothing was paid. Approve Permit2 with the operation approve, or set payments.permit2Allowance of the kit.',
};

/** What Permit2 may take of a token. */
export function readPermitAllowance(context: AccountReader, address: Address): Promise<bigint> {
  return readAllowance(context, { token: { address }, spender: getAddress(PERMIT2_ADDRESS) });
}

/**
 * The steps that give the contract of a method the allowance of the limits; none if the present one is enough for the
 * amount, or if the token needs none.
 */
export async function approveSpender(
  { title, spender: contract }: AnySignedMethod,
  { token, amountBaseUnits }: TokenAmount,
  context: AccountReader,
  { permit2Allowance = '0' }: PaymentLimits,
): Promise<Step[]> {
  if (contract === null) return [];
  const spender = getAddress(contract);
  const present = await readAllowance(context, { token, spender });
  if (present >= amountBaseUnits) return [];
  const allowance = { token, spender, amountBaseUnits: parseTokenAmount(permit2Allowance, token.decimals) };
  const label = `Let ${title} (${spender}) take up to ${showAmount(allowance)}, by signatures of this account only`;
  // Without `approval`: it stays for later payments. Some tokens change an allowance only from 0.
  const approval = { label, ...encodeApproval(allowance), failures: ERC20_FAILURES };
  return [...(present > 0n ? [createRevocation({ token, spender })] : []), approval];
}

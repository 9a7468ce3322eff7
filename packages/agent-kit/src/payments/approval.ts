import { payingMethodOf } from '@tollgate/client/internal';
import { parseTokenAmount, type AnySignedMethod } from '@tollgate/protocol';
import { getAddress } from 'viem';

import { readAllowance } from '../tokens/balance.js';
import { createRevocation, encodeApproval } from '../tokens/create-steps.js';
import { showAmount } from '../tokens/show-token.js';
import { ERC20_FAILURES } from '../tokens/token-failures.js';
import type { AccountReader } from '../types/account-reader.js';
import type { Step } from '../types/plan.js';
import type { TokenAmount } from '../types/token.js';
import type { PaymentLimits } from './payment-limits.js';

/**
 * The steps that give the contract of a method the allowance of the limits; none if the present one is enough for the
 * amount, or if the token needs none.
 */
export async function approveSpender(
  { kind, title, spender: contract }: AnySignedMethod,
  { token, amountBaseUnits }: TokenAmount,
  context: AccountReader,
  limits: PaymentLimits,
): Promise<Step[]> {
  if (contract === null) return [];
  const spender = getAddress(contract);
  const present = await readAllowance(context, { token, spender });
  if (present >= amountBaseUnits) return [];
  const { allowance: given } = payingMethodOf(kind);
  const most = (given && limits[given.option]) ?? '0';
  const allowance = { token, spender, amountBaseUnits: parseTokenAmount(most, token.decimals) };
  const label = `Let ${title} (${spender}) take up to ${showAmount(allowance)}, by signatures of this account only`;
  // Without `approval`: it stays for later payments. Some tokens change an allowance only from 0.
  const approval = { label, ...encodeApproval(allowance), failures: ERC20_FAILURES };
  return [...(present > 0n ? [createRevocation({ token, spender })] : []), approval];
}

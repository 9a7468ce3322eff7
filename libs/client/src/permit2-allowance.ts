import { formatTokenAmount, parseTokenAmount, PaymentError, PERMIT2_ADDRESS, type Hex } from '@tollgate/protocol';
import { encodeFunctionData, erc20Abi } from 'viem';

import type { ChosenRequirement } from './choose-requirement.js';
import type { PaymentContext } from './payment-options.js';
import type { PermitSigner } from './permit-signer.js';
import type { PermittableRequirement } from './signable-requirement.js';
import { sleep } from './sleep.js';

const POLL_MS = 100;

/**
 * Makes sure that Permit2 may move what is about to be signed: it has the allowance, or is given the one of the options,
 * by a transaction of the wallet's own.
 * @throws PaymentError `permit2_allowance_missing` where it has none and is to be given none; what sending throws
 */
export async function ensureAllowance(
  context: Pick<PaymentContext, 'wallet' | 'permit2Allowance' | 'deadlineMs'>,
  permits: PermitSigner,
  { requirement, asset: { decimals }, amountBaseUnits }: ChosenRequirement<PermittableRequirement>,
  signal: AbortSignal | null,
): Promise<void> {
  const { permit2Allowance } = context;
  const { asset } = requirement;
  const allowed = await permits.readAllowance(asset);
  if (allowed >= amountBaseUnits) return;
  const wanted = permit2Allowance === undefined ? 0n : parseTokenAmount(permit2Allowance, decimals);
  if (wanted >= amountBaseUnits) return approve(context, { asset, wanted }, signal);

  const [needed, has] = [amountBaseUnits, allowed].map((amount) => formatTokenAmount(amount, decimals));
  const token = `the token ${asset}`;
  throw new PaymentError(
    'permit2_allowance_missing',
    `Permit2 may move ${has} of ${token}, and this is for ${needed}.`,
    {
      hint: `Call approve(${PERMIT2_ADDRESS}, amount) at ${token} for at least ${amountBaseUnits}, or set permit2Allowance.`,
      details: { asset, spender: PERMIT2_ADDRESS, allowed: has, needed, permit2Allowance },
    },
  );
}

async function approve(
  { wallet, deadlineMs }: Pick<PaymentContext, 'wallet' | 'deadlineMs'>,
  { asset, wanted }: { asset: Hex; wanted: bigint },
  signal: AbortSignal | null,
): Promise<void> {
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [PERMIT2_ADDRESS, wanted] });
  const { txHash } = await wallet.inTurn(async () => {
    signal?.throwIfAborted();
    const transaction = await wallet.sign({ to: asset, data });
    await wallet.broadcast(transaction);
    return transaction;
  });
  // Not stored: the same approval again, after a crash, leaves the same allowance.
  for (const giveUpAtMs = Date.now() + deadlineMs; ; await sleep(POLL_MS, signal)) {
    const outcome = await wallet.readOutcome(txHash);
    if (outcome === 'success') return;
    if (outcome === 'failed' || Date.now() > giveUpAtMs) {
      throw new PaymentError(
        'cannot_pay',
        `The approval ${txHash} ${outcome === null ? 'is not mined yet' : 'failed'}.`,
        {
          hint: 'Nothing was signed. Look at the transaction; the next call looks at the allowance again.',
          details: { txHash },
        },
      );
    }
  }
}

import { formatTokenAmount, parseTokenAmount, PaymentError, PERMIT2_ADDRESS, type Hex } from '@tollgate/protocol';
import { encodeFunctionData, erc20Abi } from 'viem';

import type { PermitSigner } from '../../account/permit-signer.js';
import { signAndSend } from '../../account/send.js';
import { sleep } from '../../network/sleep.js';
import type { Chosen, PayingContext, SignedRequirement } from '../paying-method.js';

const POLL_MS = 100;

/** What a client that pays by Permit2 may be given. */
export interface AllowanceOptions {
  /**
   * The allowance to give Permit2 for an asset, in decimal text, by a transaction of the wallet, when the current one
   * is too low for a payment. If omitted, the next offer within the limits is paid, which the event `skipped` reports;
   * if there is none, the payment fails with `permit2_allowance_missing`.
   */
  permit2Allowance?: string | undefined;
}

type Permittable = Chosen<SignedRequirement>;

/** The allowance to give, in base units; null if it is too low for the payment. */
function readOwnAllowance(
  permit2Allowance: string | undefined,
  { asset, amountBaseUnits }: Permittable,
): bigint | null {
  const wanted = permit2Allowance === undefined ? 0n : parseTokenAmount(permit2Allowance, asset.decimals);
  return wanted >= amountBaseUnits ? wanted : null;
}

/**
 * Why the wallet cannot pay by Permit2: the allowance is too low, and the options do not allow raising it far enough.
 * Null if it can.
 * @throws PaymentError `wallet_unavailable` when the allowance cannot be read
 */
export async function findAllowanceProblem(
  permit2Allowance: string | undefined,
  permits: Pick<PermitSigner, 'readAllowance'>,
  chosen: Permittable,
): Promise<PaymentError | null> {
  if (readOwnAllowance(permit2Allowance, chosen) !== null) return null;
  const { requirement, amountBaseUnits } = chosen;
  const { asset } = requirement;
  const allowed = await permits.readAllowance(asset);
  if (allowed >= amountBaseUnits) return null;

  const [needed, has] = [amountBaseUnits, allowed].map((amount) => formatTokenAmount(amount, chosen.asset.decimals));
  const token = `the token ${asset}`;
  return new PaymentError(
    'permit2_allowance_missing',
    `Permit2 may move ${has} of ${token}, but the payment needs ${needed}.`,
    {
      hint: `Call approve(${PERMIT2_ADDRESS}, amount) at ${token} for at least ${amountBaseUnits}, or set permit2Allowance.`,
      details: { asset, spender: PERMIT2_ADDRESS, allowed: has, needed, permit2Allowance },
    },
  );
}

/**
 * Gives Permit2 the configured allowance if its current one is too low, by a transaction of the wallet; by two where the
 * token changes an allowance only from 0, as USDT does.
 * @throws any error of the sending
 */
export async function ensureAllowance(
  context: PayingContext & AllowanceOptions,
  permits: PermitSigner,
  chosen: Permittable,
  signal: AbortSignal | null,
): Promise<void> {
  const wanted = readOwnAllowance(context.permit2Allowance, chosen);
  // The offer was chosen with an allowance that is not raised here.
  if (wanted === null) return;
  const { asset } = chosen.requirement;
  const allowed = await permits.readAllowance(asset);
  if (allowed >= chosen.amountBaseUnits) return;
  try {
    await approve(context, { asset, amount: wanted }, signal);
  } catch (error) {
    if (allowed === 0n || !isRefused(error)) throw error;
    await approve(context, { asset, amount: 0n }, signal);
    await approve(context, { asset, amount: wanted }, signal);
  }
}

/** Whether an approval can have no effect any more: one that is still to be mined can. */
function isRefused(error: unknown): boolean {
  return error instanceof PaymentError && error.code === 'cannot_pay' && error.details['isPending'] !== true;
}

async function approve(
  { wallet, deadlineMs }: PayingContext,
  { asset, amount }: { asset: Hex; amount: bigint },
  signal: AbortSignal | null,
): Promise<void> {
  const data = encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args: [PERMIT2_ADDRESS, amount] });
  const signApproval = (call: { to: Hex; data: Hex }) =>
    wallet.sign(call).catch((error: unknown) => {
      throw nameApproval(error, asset);
    });
  const { txHash } = await wallet.inTurn(async () => {
    signal?.throwIfAborted();
    return signAndSend({ sign: signApproval, broadcast: (signed) => wallet.broadcast(signed) }, { to: asset, data });
  });
  // Not stored: after a crash, repeating the same approval sets the same allowance.
  for (const giveUpAtMs = Date.now() + deadlineMs; ; await sleep(POLL_MS, signal)) {
    const outcome = await wallet.readOutcome(txHash);
    if (outcome === 'success') return;
    if (outcome === 'failed' || Date.now() > giveUpAtMs) {
      throw new PaymentError(
        'cannot_pay',
        `The approval ${txHash} ${outcome === null ? 'is not mined yet' : 'failed'}.`,
        {
          hint: 'No payment was signed. Check the transaction; the next call reads the allowance again.',
          details: { txHash, isPending: outcome === null },
        },
      );
    }
  }
}

/** The wallet speaks of a transfer, which this is not. */
function nameApproval(error: unknown, asset: Hex): unknown {
  if (!(error instanceof PaymentError) || error.code !== 'cannot_pay') return error;
  const reason = error.message.replace(/^The wallet (cannot make this transfer: )?/, '');
  return new PaymentError('cannot_pay', `Permit2 cannot be approved for the token ${asset}: ${reason}`, {
    hint: 'No payment was signed; an earlier allowance may be 0 now. Check the token, and the balance for fees and the nonce of the payer.',
    details: { asset, spender: PERMIT2_ADDRESS },
    cause: error,
  });
}

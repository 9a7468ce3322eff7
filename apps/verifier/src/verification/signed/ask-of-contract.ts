import {
  askForSignature,
  bundleCalls,
  type ChainReader,
  type ContractSignature,
  type PayerSignature,
  type PermitView,
  type RpcCall,
} from '@tollgate/chain';
import type { Hex } from '@tollgate/protocol';

import type { LookUps } from '../client-shares.js';
import { PaymentRefused } from '../payment-refused.js';

/**
 * Reads the state of a payment signed by a contract, charged to the client's share, since the call runs the payer's own
 * code. Refuses `signature_invalid` without a call when the contract refused the signature a moment ago.
 */
export async function askOfContract<View extends Pick<PermitView, 'hasPayerCode' | 'signatureAnswer'>>(
  { chain, lookUps }: { chain: Pick<ChainReader, 'refusedSignatures'>; lookUps: LookUps },
  signed: ContractSignature,
  read: (asker: LookUps) => Promise<View>,
): Promise<View> {
  if (chain.refusedSignatures.include(signed)) throw new PaymentRefused('signature_invalid');
  lookUps.assertLeft();
  const view = await read(lookUps);
  // A wallet without code has not refused anything.
  if (view.hasPayerCode && view.signatureAnswer === 'no') chain.refusedSignatures.remember(signed);
  return view;
}

/** The call that asks for the signature, depending on whether the payer has code; null when its key signed. */
export function planSignatureCheck(
  { payer, hash, signature }: { payer: Hex; hash: Hex; signature: PayerSignature },
  { multicall3, isDeployed }: { multicall3: Hex; isDeployed: boolean },
): RpcCall | null {
  if (signature.kind === 'account') return null;
  const check = { signer: payer, hash, signature: signature.bytes };
  if (isDeployed || signature.deployment === null) return askForSignature(check);
  return askForSignature(check, bundleCalls(multicall3, [{ ...signature.deployment, mayFail: true }]));
}

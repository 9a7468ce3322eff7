import {
  askForSignature,
  bundleCalls,
  type ChainReader,
  type ContractSignature,
  type PayerSignature,
  type UnsettledView,
  type RpcCall,
} from '@tollgate/chain';
import type { Hex } from '@tollgate/protocol';

import type { LookUps } from '../limits/client-shares.js';
import { PaymentRefused } from '../refusals.js';

type Signatures = Pick<ChainReader, 'refusedSignatures'>;

/**
 * Call before a contract is asked for its signature, charged to the client's share, since the call runs the payer's own
 * code. Refuses `signature_invalid` when the contract refused the signature a moment ago.
 * @throws NotJudged for a client over its share
 */
export function assertMayAsk({ refusedSignatures }: Signatures, lookUps: LookUps, signed: ContractSignature): void {
  if (refusedSignatures.include(signed)) throw new PaymentRefused('signature_invalid');
  lookUps.assertLeft();
}

/** Call with the contract's answer. A wallet without code has not refused anything. */
export function rememberAnswer(
  { refusedSignatures }: Signatures,
  signed: ContractSignature,
  { hasPayerCode, signatureAnswer }: Pick<UnsettledView, 'hasPayerCode' | 'signatureAnswer'>,
): void {
  if (hasPayerCode && signatureAnswer === 'no') refusedSignatures.remember(signed);
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

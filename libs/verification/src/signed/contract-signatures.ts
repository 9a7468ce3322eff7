import {
  type ChainReader,
  askForSignature,
  bundleCalls,
  type ContractSignature,
  type PayerSignature,
  type PaymentView,
  type RpcCall,
} from '@tollgate/chain';
import type { Hex } from '@tollgate/protocol';
import type { ContractSignatureVerdict, VerifyContractSignatureRequest } from '@tollgate/transport';

import type { ClientShares, LookUps } from '../limits/client-shares.js';
import { explainSilence, PaymentRefused } from '../refusals.js';

export interface ContractSignaturesOptions {
  chainId: number;
  chain: Pick<ChainReader, 'isContractSignature'>;
  shares: ClientShares;
  /** Returns the time of Redis's clock. */
  nowMs: () => number;
}

/** Asks contracts whether they signed (EIP-1271), on behalf of gateways, which have no RPC connection. */
export class ContractSignatures {
  constructor(private readonly options: ContractSignaturesOptions) {}

  /** Never throws because of a contract, the chain or a payer. */
  async verify(request: VerifyContractSignatureRequest): Promise<ContractSignatureVerdict> {
    const { chainId, shares, nowMs } = this.options;
    if (request.chainId !== chainId) return { outcome: 'unavailable', reason: 'settings_differ' };
    if (request.deadlineMs <= nowMs()) return { outcome: 'unavailable', reason: 'deadline_passed' };
    const lookUps = shares.begin(request.clientAddress);
    const verdict = await this.#ask(request, lookUps);
    lookUps.end(verdict);
    return verdict;
  }

  async #ask(
    { deadlineMs, signer, hash, signature }: VerifyContractSignatureRequest,
    lookUps: LookUps,
  ): Promise<ContractSignatureVerdict> {
    try {
      lookUps.assertLeft();
      const isSigned = await this.options.chain.isContractSignature({ signer, hash, signature }, deadlineMs, lookUps);
      return { outcome: isSigned ? 'signed' : 'not_signed' };
    } catch (error) {
      return { outcome: 'unavailable', reason: explainSilence(error).reason };
    }
  }
}

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
  { hasPayerCode, signatureAnswer }: Pick<PaymentView, 'hasPayerCode' | 'signatureAnswer'>,
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

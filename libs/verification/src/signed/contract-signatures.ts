import type { ChainReader } from '@tollgate/chain';
import type { ContractSignatureVerdict, VerifyContractSignatureRequest } from '@tollgate/transport';

import type { ClientShares, LookUps } from '../limits/client-shares.js';
import { explainSilence } from '../refusals.js';

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

import type { ContractSignatureVerdict, VerifyContractSignatureRequest } from '@tollgate/common';

import type { ChainReader } from '../chain/chain-reader.js';
import { ChainUnavailableError } from '../chain/chain-unavailable-error.js';

export interface ContractSignaturesOptions {
  chainId: number;
  chain: Pick<ChainReader, 'isContractSignature'>;
  /** Redis's clock. */
  nowMs: () => number;
}

/** Asks contracts whether they have signed (EIP-1271), for gateways, which know no chain. */
export class ContractSignatures {
  constructor(private readonly options: ContractSignaturesOptions) {}

  /** Never throws for what a contract, the chain or a payer do. */
  async verify(request: VerifyContractSignatureRequest): Promise<ContractSignatureVerdict> {
    const { chain, chainId, nowMs } = this.options;
    const { deadlineMs, ...asked } = request;
    if (asked.chainId !== chainId) return { outcome: 'unavailable', reason: 'settings_differ' };
    if (deadlineMs <= nowMs()) return { outcome: 'unavailable', reason: 'deadline_passed' };
    try {
      return { outcome: (await chain.isContractSignature(asked, deadlineMs)) ? 'signed' : 'not_signed' };
    } catch (error) {
      if (error instanceof ChainUnavailableError) return { outcome: 'unavailable', reason: error.reason };
      throw error;
    }
  }
}

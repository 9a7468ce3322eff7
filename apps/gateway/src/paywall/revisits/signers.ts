import { recoverAccount } from '@tollgate/crypto';
import { clientNetwork } from '@tollgate/http';
import { caip2Of, type SignIn } from '@tollgate/protocol';
import {
  type ContractSignatureVerdict,
  NoReplyError,
  QueueFullError,
  VERIFY_CONTRACT_SIGNATURE,
  type VerifyContractSignatureRequest,
} from '@tollgate/transport';
import { hashMessage } from 'viem';

import type { JudgedOption } from '../../options/judged-options.js';

export interface SignersParts {
  readonly options: readonly JudgedOption[];
  readonly verifyDeadlineMs: number;
  readonly verifyRetryMs: number;
  /** The clock of the ledger's Redis. */
  readonly nowMs: () => number;
}

/** The client of the request with the signature. */
export interface SignerAsker {
  readonly requestId: string;
  readonly clientAddress: string;
}

/** It cannot be determined now whether a contract accepts a signature. */
export class SignerUnknownError extends Error {
  override readonly name = 'SignerUnknownError';
}

/** Verifies signatures: of an account by recovering its address (EIP-191), of a contract by calling it (EIP-1271). */
export class Signers {
  constructor(private readonly parts: SignersParts) {}

  /**
   * Who has signed: the account of that address, the contract that it is on the named chain, or neither.
   *
   * @throws SignerUnknownError
   */
  async findSigner(
    message: string,
    { address, signature, network }: SignIn,
    asker: SignerAsker,
  ): Promise<'account' | 'contract' | null> {
    const hash = hashMessage(message);
    if (recoverAccount(hash, signature) === address.toLowerCase()) return 'account';
    const verdict = await this.#ask(network, { hash, signature, signer: address, ...asker });
    if (verdict.outcome === 'unavailable') throw new SignerUnknownError(verdict.reason);
    return verdict.outcome === 'signed' ? 'contract' : null;
  }

  async #ask(
    network: string,
    asked: Omit<VerifyContractSignatureRequest, 'deadlineMs' | 'chainId'>,
  ): Promise<ContractSignatureVerdict> {
    const { options, verifyDeadlineMs: timeoutMs, verifyRetryMs: retryAfterMs, nowMs } = this.parts;
    const judged = options.filter(({ option }) => caip2Of(option.chain.id) === network);
    // Any option of the chain will do, and one that no verifier judges now would wait for nothing.
    const { verifier, option } = judged.find(({ agreement }) => agreement.isFresh()) ?? judged[0] ?? {};
    if (verifier === undefined || option === undefined) return { outcome: 'unavailable', reason: 'chain_unknown' };
    const chainId = option.chain.id;
    const clientAddress = clientNetwork(asked.clientAddress);
    const request = { ...asked, clientAddress, chainId, deadlineMs: nowMs() + timeoutMs };
    try {
      return await verifier.ask(VERIFY_CONTRACT_SIGNATURE, request, {
        timeoutMs,
        retryAfterMs,
        requestId: asked.requestId,
      });
    } catch (error) {
      const isAway = error instanceof QueueFullError || error instanceof NoReplyError;
      return { outcome: 'unavailable', reason: isAway ? error.code : String(error) };
    }
  }
}

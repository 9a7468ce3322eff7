import { Controller, Inject } from '@nestjs/common';
import { Payload } from '@nestjs/microservices';
import { Chain } from '@tollgate/journal';
import { Answers, READ_MINED_NONCE, type ReadMinedNonceReply, type ReadMinedNonceRequest } from '@tollgate/transport';

/**
 * For gateways, which have no chain access for jobs: a job may be abandoned only if another transaction used its nonce.
 */
@Controller()
export class ReadMinedNonceController {
  constructor(@Inject(Chain) private readonly chain: Chain) {}

  @Answers(READ_MINED_NONCE)
  async read(@Payload() { chainId, address, attempts }: ReadMinedNonceRequest): Promise<ReadMinedNonceReply> {
    if (chainId !== this.chain.chainId) return { outcome: 'unavailable', reason: 'this worker is on another chain' };
    try {
      const { minedNonce } = await this.chain.readHead(address);
      const isAttemptMined = attempts.length > 0 && (await this.chain.findReceipt(attempts)) !== null;
      return { outcome: 'read', minedNonce, isAttemptMined };
    } catch {
      return { outcome: 'unavailable', reason: 'the chain does not answer' };
    }
  }
}

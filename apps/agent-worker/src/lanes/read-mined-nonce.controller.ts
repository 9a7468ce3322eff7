import { Controller, Inject } from '@nestjs/common';
import { Payload } from '@nestjs/microservices';
import { Chain, createLaneId } from '@tollgate/journal';
import { isHash } from '@tollgate/protocol';
import { Answers, READ_MINED_NONCE, type ReadMinedNonceReply, type ReadMinedNonceRequest } from '@tollgate/transport';

/**
 * For gateways, which have no chain access for jobs: a job may be abandoned only if another transaction used its nonce.
 */
@Controller()
export class ReadMinedNonceController {
  constructor(@Inject(Chain) private readonly chain: Chain) {}

  @Answers(READ_MINED_NONCE)
  async read(@Payload() message: unknown): Promise<ReadMinedNonceReply> {
    const { chainId, address, attempts } = Object(message) as Partial<Record<keyof ReadMinedNonceRequest, unknown>>;
    const lane = createLaneId(Number(chainId), String(address));
    if (lane.chainId !== this.chain.chainId)
      return { outcome: 'unavailable', reason: 'this worker is on another chain' };
    if (!Array.isArray(attempts)) return { outcome: 'unavailable', reason: 'the question names no attempts' };
    try {
      const { minedNonce } = await this.chain.readHead(lane.address);
      const hashes = attempts.filter(isHash);
      const isAttemptMined = hashes.length > 0 && (await this.chain.findReceipt(hashes)) !== null;
      return { outcome: 'read', minedNonce, isAttemptMined };
    } catch {
      return { outcome: 'unavailable', reason: 'the chain does not answer' };
    }
  }
}

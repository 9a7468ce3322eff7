import { Controller, Inject } from '@nestjs/common';
import { MessagePattern, Payload } from '@nestjs/microservices';
import { READ_MINED_NONCE, type ReadMinedNonceReply } from '@tollgate/agent-jobs';
import { Chain, createLaneId } from '@tollgate/transactions';

/** For gateways, which have no chain of their own for jobs: a job is given up only where its nonce is used. */
@Controller()
export class ReadMinedNonceController {
  constructor(@Inject(Chain) private readonly chain: Chain) {}

  @MessagePattern(READ_MINED_NONCE)
  async read(@Payload() message: unknown): Promise<ReadMinedNonceReply> {
    const { chainId, address } = Object(message) as { chainId?: unknown; address?: unknown };
    const lane = createLaneId(Number(chainId), String(address));
    if (lane.chainId !== this.chain.chainId)
      return { outcome: 'unavailable', reason: 'this worker is on another chain' };
    try {
      const { minedNonce } = await this.chain.readHead(lane.address);
      return { outcome: 'read', minedNonce };
    } catch {
      return { outcome: 'unavailable', reason: 'the chain does not answer' };
    }
  }
}

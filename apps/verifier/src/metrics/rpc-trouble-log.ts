import { Logger } from '@nestjs/common';
import type { ChainObserver, EndedBatch } from '@tollgate/chain';

/**
 * Logs one line when an RPC server starts to fail and one when it answers again, so that an outage does not write
 * thousands of lines.
 */
export class RpcTroubleLog implements ChainObserver {
  private readonly logger = new Logger('Chain');
  private readonly failing = new Set<string>();

  batchEnded({ host, trouble }: EndedBatch): void {
    if (trouble === 'none') {
      if (this.failing.delete(host)) this.logger.log(`the RPC server ${host} answers again`);
    } else if (!this.failing.has(host)) {
      this.failing.add(host);
      this.logger.warn(`the RPC server ${host} fails: ${trouble}`);
    }
  }

  queueChanged(): void {
    // Not logged.
  }
}

import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { SampledLogger } from '@tollgate/common';
import { clientNetwork } from '@tollgate/http';
import { SETTLEMENT_PENDING, type SettleResponse } from '@tollgate/protocol';

/**
 * Logs one line for each settlement. Requests without a transaction, which any client can fabricate, are sampled per
 * client.
 */
@Injectable()
export class FacilitatorLog implements OnApplicationShutdown {
  readonly #logger = new Logger('Facilitator');
  readonly #unmoved = new SampledLogger('Facilitator');

  answered(response: SettleResponse, clientAddress: string): void {
    const { success, transaction, errorReason = 'settled' } = response;
    const outcome = success ? 'settled' : errorReason === SETTLEMENT_PENDING ? 'pending' : 'not_settled';
    const line = { msg: `settlement: ${outcome}`, ...response };
    if (transaction !== '') this.#logger.log(line);
    else this.#unmoved.log({ client: clientNetwork(clientAddress), reason: errorReason }, line);
  }

  onApplicationShutdown(): void {
    this.#unmoved.flush();
  }
}

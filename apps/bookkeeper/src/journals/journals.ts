import { Inject, Injectable, Logger } from '@nestjs/common';
import { WalletDirectory } from '@tollgate/agent-jobs';
import { RareErrors } from '@tollgate/common';
import { ApiKeyStore } from '@tollgate/http';
import { Journal, RELAYER_FLEET, type JobQueue, type UnreadableJobError } from '@tollgate/journal';
import { StoreUnavailableError, withTimeout } from '@tollgate/redis';

import { BookkeeperEnvironment } from '../config/bookkeeper.config.js';
import { BookkeeperConnections } from '../drain/connections.js';

const TIMEOUT_MS = 3_000;

/** The journals of the wallets and of the relayers, the names of the wallets, and who submits their jobs. */
@Injectable()
export class Journals {
  readonly #logger = new Logger('Journals');
  readonly #errors = new RareErrors();
  readonly journal: Journal;
  /** Never opened here: the verifiers set its options. */
  readonly relayers: Journal;
  readonly directory: WalletDirectory;
  readonly apiKeys: Pick<ApiKeyStore, 'readState'>;
  /** Wakes no worker: the bookkeeper may not write to the queues, and a worker reads its jobs every ten seconds anyway. */
  readonly queue: JobQueue = { wake: () => undefined };

  constructor(
    @Inject(BookkeeperConnections) { commands: redis }: BookkeeperConnections,
    @Inject(BookkeeperEnvironment) { redis: { durability, bookOutboxLimit: bookLimit } }: BookkeeperEnvironment,
  ) {
    this.journal = new Journal({ redis, timeoutMs: TIMEOUT_MS, durability, bookLimit });
    this.relayers = new Journal({ redis, timeoutMs: TIMEOUT_MS, durability, fleet: RELAYER_FLEET });
    this.directory = new WalletDirectory(redis);
    const keys = new ApiKeyStore(redis);
    this.apiKeys = {
      readState: (id) =>
        withTimeout(keys.readState(id), TIMEOUT_MS).catch((cause: unknown) => {
          throw new StoreUnavailableError('journal', 'The API keys cannot be read.', { cause });
        }),
    };
  }

  /** The journal of a role. The relayers' one finds its scripts loaded by the other. */
  async of(role: 'wallet' | 'relayer'): Promise<Journal> {
    if (role === 'wallet') return this.journal;
    await this.journal.open();
    return this.relayers;
  }

  /** Logs a job that cannot be read, once a minute: consoles ask again and again. */
  report(error: UnreadableJobError): void {
    if (this.#errors.takeReason('', error) !== null) this.#logger.error({ msg: error.message, err: error });
  }
}

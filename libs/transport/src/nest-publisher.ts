import { ClientRedis } from '@nestjs/microservices';
import { closeWithin, createRedis, SOCKET_TIMEOUT_MS } from '@tollgate/redis';
import type { Redis } from 'ioredis';
import { lastValueFrom } from 'rxjs';

const RETRY_DELAY_MS = 1_000;
const CLOSE_WITHIN_MS = 1_000;

/**
 * Publishes events under their types with Nest's own Redis transport. A service that connects that transport to the
 * same Redis receives them with `@EventPattern('transactionFailed')`. This is pub/sub: a service that is not subscribed
 * at that moment never receives an event.
 */
export class NestPublisher {
  readonly #client: NestClient;

  /** @param redisUrl the Redis of the queues */
  constructor(redisUrl: string) {
    this.#client = new NestClient(redisUrl);
  }

  /** Resolves when Redis has accepted all of them. */
  async publish(events: readonly { readonly type: string }[]): Promise<void> {
    const published = events.map((event) =>
      lastValueFrom(this.#client.emit(event.type, event), { defaultValue: null }),
    );
    await Promise.all(published);
  }

  async close(): Promise<void> {
    await closeWithin(CLOSE_WITHIN_MS, this.#client);
    this.#client.disconnect();
  }
}

class NestClient extends ClientRedis {
  #created: Redis[] = [];

  constructor(private readonly redisUrl: string) {
    super({ retryAttempts: Number.MAX_SAFE_INTEGER, retryDelay: RETRY_DELAY_MS });
  }

  /** Connects by URL, which Nest's own transport does not support. */
  override createClient(): Promise<Redis> {
    // Nest calls what a cluster's client has too.
    const redis = createRedis(this.redisUrl, {
      ...this.getClientOptions(),
      connectionName: 'tollgate-nest-events',
      connectTimeout: 5_000,
      socketTimeout: SOCKET_TIMEOUT_MS,
      maxRetriesPerRequest: 2,
      lazyConnect: true,
    }) as Redis;
    this.#created = [...this.#created.filter(({ status }) => status !== 'end'), redis];
    return Promise.resolve(redis);
  }

  /** Ends connections to a Redis that does not answer `QUIT`. */
  disconnect(): void {
    // For a connection that has ended, ioredis would start a timer of two seconds that nothing clears.
    for (const redis of this.#created.splice(0)) if (redis.status !== 'end') redis.disconnect();
  }

  /** The publisher reports an outage once; the connections would report it every second. */
  override registerErrorListener(client: Redis): void {
    client.on('error', () => undefined);
  }
}

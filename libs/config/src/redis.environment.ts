import { DURABILITY_BOUNDS, findRedisUrlProblems, type Durability } from '@tollgate/redis';
import { IsIn, IsOptional, ValidateBy, type ValidationArguments } from 'class-validator';

import { IsIntIn, Setting } from './setting.js';

const { replicas: REPLICAS, timeoutMs: TIMEOUT_MS } = DURABILITY_BOUNDS;

/** Validates the URL of a Redis; the message names every problem, and no part of the URL. */
function IsRedisUrl(): PropertyDecorator {
  const message = ({ value }: ValidationArguments) => `$property ${problemsOf(value).join(', and ')}`;
  return ValidateBy(
    { name: 'isRedisUrl', validator: { validate: (value: unknown) => problemsOf(value).length === 0 } },
    { message },
  );
}

function problemsOf(value: unknown): string[] {
  return findRedisUrlProblems(String(value));
}

export class RedisEnvironment {
  @Setting({
    // A URL may carry a password.
    secret: true,
    help: 'Redis of the ledger, with appendfsync always and maxmemory-policy noeviction. One server, or redis+cluster://host:port,host:port, or redis+sentinel://host:port,host:port/name.',
  })
  @IsRedisUrl()
  readonly redisUrl: string = 'redis://127.0.0.1:6379';

  @Setting({
    name: 'QUEUE_REDIS_URL',
    secret: true,
    help: 'Redis of the queues, if it is another server.',
    example: 'redis://127.0.0.1:6380',
  })
  @IsOptional()
  @IsRedisUrl()
  private readonly ownQueueRedisUrl?: string;

  @Setting({
    help: 'What has a payment or a job on disk before anything that rests on it leaves. local: the server of REDIS_URL; replica: also LEDGER_REPLICAS replicas (Redis 7.2 or Valkey). The same at every process.',
  })
  @IsIn(['local', 'replica'])
  readonly ledgerDurability: 'local' | 'replica' = 'local';

  @Setting({
    help: 'Replicas that must have it on disk with LEDGER_DURABILITY=replica: every one that may be promoted.',
  })
  @IsIntIn(REPLICAS.from, REPLICAS.to)
  readonly ledgerReplicas: number = REPLICAS.usually;

  @Setting({ help: 'Milliseconds that these replicas may take; after that, 503.' })
  @IsIntIn(TIMEOUT_MS.from, TIMEOUT_MS.to)
  readonly ledgerReplicaTimeoutMs: number = TIMEOUT_MS.usually;

  @Setting({
    help: 'Whether every change of money is reported to a bookkeeper: on or off. The same at gateways, verifiers and agent workers.',
  })
  @IsIn(['off', 'on'])
  readonly book: 'off' | 'on' = 'off';

  @Setting({
    help: 'Events that may wait in Redis for the bookkeeper, 1 KB each: of payments, of refusals, and of each relayer and wallet. At the limit new payments, settlements and jobs get 503.',
  })
  @IsIntIn(1_000, 100_000_000)
  readonly bookOutboxLimit: number = 500_000;

  /** For the ledger and the journal; null: nothing is reported. */
  get reportsTo(): { outboxLimit: number } | null {
    return this.book === 'on' ? { outboxLimit: this.bookOutboxLimit } : null;
  }

  /** How many transactions of a relayer or wallet may wait for the bookkeeper; null: nothing is reported. */
  get bookLimit(): number | null {
    return this.reportsTo?.outboxLimit ?? null;
  }

  get durability(): Durability | null {
    if (this.ledgerDurability === 'local') return null;
    return { replicas: this.ledgerReplicas, timeoutMs: this.ledgerReplicaTimeoutMs };
  }

  get queueRedisUrl(): string {
    return this.ownQueueRedisUrl ?? this.redisUrl;
  }
}

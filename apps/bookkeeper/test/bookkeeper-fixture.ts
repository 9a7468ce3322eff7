import { randomBytes } from 'node:crypto';

import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { DeliveredEvent, Queryable } from '@tollgate/book';
import type { BookEvent } from '@tollgate/book-events';
import { ApiKeyStore, type ApiKeyScope } from '@tollgate/http';
import { Redis } from 'ioredis';

import { askForRefunds } from '../../../libs/book/test/ask-for-refunds.js';
import { createTestBook, type TestBook } from '../../../libs/book/test/create-test-book.js';
import { ASSET, PAY_TO } from '../../../libs/book/test/sample-events.js';
import { startRedis, type RedisServer } from '../../../tools/devnet/processes/redis.js';
import { BookHolder } from '../src/book/book-holder.js';
import { startBookkeeper } from '../src/start-bookkeeper.js';

const SIGNING_KEY = randomBytes(32).toString('hex');
/** A port that refuses. */
const NO_RPC_SERVER = 'http://127.0.0.1:9';

export interface StartedBookkeeper {
  app: NestFastifyApplication;
  url: string;
  close: () => Promise<unknown>;
}

/** A Redis, an empty book, and bookkeepers in this process. */
export class BookkeeperFixture {
  readonly #started: StartedBookkeeper[] = [];

  private constructor(
    readonly server: RedisServer,
    readonly redis: Redis,
    readonly book: TestBook,
  ) {}

  static start(): Promise<BookkeeperFixture> {
    return BookkeeperFixture.#open(startRedis(), createTestBook());
  }

  static async #open(starting: Promise<RedisServer>, creating: Promise<TestBook>): Promise<BookkeeperFixture> {
    const [server, book] = await Promise.all([starting, creating]);
    const redis = new Redis(server.url, { maxRetriesPerRequest: null });
    redis.on('error', () => undefined);
    return new BookkeeperFixture(server, redis, book);
  }

  /** Another one with what Redis and the book of this one have. Its bookkeepers are ended, and its Redis is killed. */
  copy(): Promise<BookkeeperFixture> {
    return BookkeeperFixture.#open(startRedis({ copyOf: this.server.dir }), this.book.copy());
  }

  async stop(): Promise<void> {
    await this.endBookkeepers();
    this.redis.disconnect();
    await this.server.stop();
    await this.book.remove();
  }

  async endBookkeepers(): Promise<void> {
    await Promise.all(this.#started.splice(0).map(({ close }) => close()));
  }

  /** Changes the book by hand, while no bookkeeper has it. */
  async change(sql: string): Promise<void> {
    const database = await this.book.claim();
    try {
      await database.execute(sql);
    } finally {
      await database.close();
    }
  }

  environment(more: Record<string, string> = {}): Record<string, string> {
    return {
      BOOKKEEPER_PORT: '0',
      REDIS_URL: this.server.url,
      LOG_LEVEL: 'silent',
      ASSET_ADDRESS: ASSET,
      PAY_TO,
      RPC_URL: NO_RPC_SERVER,
      BOOK_SIGNING_KEY: SIGNING_KEY,
      OPERATOR_RATE_LIMIT_PER_MINUTE: '0',
      ...this.book.env,
      ...more,
    };
  }

  async startBookkeeper(more: Record<string, string> = {}): Promise<StartedBookkeeper> {
    const service = await startBookkeeper(this.environment(more));
    const started = { app: service.app, url: await service.app.getUrl(), close: () => service.close() };
    this.#started.push(started);
    return started;
  }

  /** Writes an event to the outbox, as the ledger's scripts do. */
  async report({ stream, fields }: DeliveredEvent): Promise<void> {
    await this.redis.xadd(stream, '*', ...fields);
  }

  /** Has the book of the bookkeeper that was started last have asked for the refunds that these events report. */
  async askForRefunds(...events: readonly BookEvent[]): Promise<void> {
    await askForRefunds(this.database, ...events);
  }

  /** The open book of the bookkeeper that was started last. */
  get database(): Queryable {
    const [{ app }] = this.#started.slice(-1) as [StartedBookkeeper];
    return app.get(BookHolder).writer.database;
  }

  async createToken(...scopes: ApiKeyScope[]): Promise<string> {
    return (await new ApiKeyStore(this.redis).create({ name: 'spec', scopes, wallets: [] })).token;
  }
}

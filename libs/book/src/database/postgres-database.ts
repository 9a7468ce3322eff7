import { Client, Pool, types, type ClientConfig, type PoolClient, type QueryResult } from 'pg';

import {
  BookHeldError,
  BookUnavailableError,
  NO_STATEMENT_LIMIT,
  SCHEMA,
  type ClaimedDatabase,
  type Queryable,
  type SqlValue,
} from './database.js';
import { InTurn } from './in-turn.js';

/** Any number that no other program of this database uses: the lock that the active bookkeeper holds. */
const LOCK = 0x7011_6a7e;
const CONNECT_WITHIN_MS = 5_000;
const STATEMENT_WITHIN_MS = 60_000;
/**
 * TCP keep-alives: after so many idle seconds the other machine is asked whether it is there, and this often, every few
 * seconds, before it counts as gone. By default that takes two hours.
 */
const [ASK_AFTER_SECONDS, ASK_EVERY_SECONDS, ASK_TIMES] = [10, 5, 3];
/** Makes the server end a session, and give its lock back, whose bookkeeper has gone without closing it. */
const NOTICE_GONE = [
  `SET tcp_keepalives_idle = ${ASK_AFTER_SECONDS}`,
  `SET tcp_keepalives_interval = ${ASK_EVERY_SECONDS}`,
  `SET tcp_keepalives_count = ${ASK_TIMES}`,
  // The bookkeeper's machine may also take this long to acknowledge data.
  `SET tcp_user_timeout = ${(ASK_AFTER_SECONDS + ASK_EVERY_SECONDS * ASK_TIMES) * 1000}`,
].join('; ');
/** What the driver says when the server has not answered within `query_timeout`. */
const UNANSWERED = 'Query read timeout';
/** The driver takes 0 for its default. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;
const READERS = 4;
const INT8 = types.builtins.INT8;

/**
 * A PostgreSQL server. One session has the advisory lock and makes every write, so a session that ends loses both.
 * @throws BookHeldError when another session has the lock; BookUnavailableError when the server does not answer
 */
export async function openServer(url: string): Promise<ClaimedDatabase> {
  const config = createConfig(url);
  const writer = new Client(config);
  const lost = new Promise<string>((resolve) => {
    writer.on('error', (error) => resolve(error.message));
    writer.on('end', () => resolve('the connection was closed'));
  });
  try {
    await writer.connect();
    await writer.query(NOTICE_GONE);
    const { rows } = await writer.query<{ held: boolean }>('SELECT pg_try_advisory_lock($1, hashtext($2)) AS held', [
      LOCK,
      SCHEMA,
    ]);
    if (rows[0]?.held !== true) throw new BookHeldError('Another bookkeeper holds the lock of the book.');
    await writer.query(`CREATE SCHEMA IF NOT EXISTS ${SCHEMA}`);
    await writer.query(`SET search_path TO ${SCHEMA}`);
  } catch (error) {
    await writer.end().catch(() => undefined);
    throw error instanceof BookHeldError ? error : toUnavailable(error);
  }
  const readers = new Pool({
    ...config,
    max: READERS,
    // oxlint-disable-next-line typescript/no-misused-promises -- the pool awaits it, which its types do not say
    onConnect: (client) => client.query(`SET search_path TO ${SCHEMA}`),
  });
  readers.on('error', () => undefined);
  return new PostgresDatabase(writer, readers, lost);
}

class PostgresDatabase implements ClaimedDatabase {
  readonly kind = 'postgres';
  readonly #writes = new InTurn();
  /** The readers that snapshots have. */
  readonly #reading = new Set<PoolClient>();
  #isClosed = false;

  constructor(
    private readonly writer: Client,
    private readonly readers: Pool,
    readonly lost: Promise<string>,
  ) {}

  query<Row extends object>(sql: string, values?: readonly SqlValue[]): Promise<Row[]> {
    return run<Row>(this.readers, sql, values);
  }

  transaction<T>(work: (within: Queryable) => Promise<T>, isLong = false): Promise<T> {
    const [connection, begin] = isLong
      ? [waitFor(this.writer), `BEGIN; ${NO_STATEMENT_LIMIT}`]
      : [endUnanswered(this.writer), 'BEGIN'];
    return this.#writes.run(() => transact(connection, begin, work));
  }

  async snapshot<T>(work: (within: Queryable) => Promise<T>): Promise<T> {
    const client = await this.readers.connect().catch((error: unknown) => {
      throw toUnavailable(error);
    });
    if (this.#isClosed) {
      client.release(true);
      throw toUnavailable(new Error('it was closed'));
    }
    // The pool does not listen to a client that it has given out. Each query rejects with what ends the connection.
    client.on('error', ignore);
    this.#reading.add(client);
    try {
      const result = await transact(client, 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY', work);
      this.#giveBack(client, false);
      return result;
    } catch (error) {
      // The connection may be gone, or wait for an answer that never comes.
      this.#giveBack(client, true);
      throw error;
    }
  }

  longSnapshot<T>(work: (within: Queryable) => Promise<T>): Promise<T> {
    return this.snapshot(work);
  }

  async execute(sql: string): Promise<void> {
    await this.#writes.run(() => run(waitFor(this.writer), sql));
  }

  async close(): Promise<void> {
    // A snapshot may still wait for its reader.
    this.#isClosed = true;
    // The pool would wait for snapshots, of which a backup lasts as long as its reader takes.
    for (const client of this.#reading) this.#giveBack(client, true);
    await Promise.allSettled([this.readers.end(), this.writer.end()]);
  }

  /** Once for each snapshot. */
  #giveBack(client: PoolClient, isEnded: boolean): void {
    if (!this.#reading.delete(client)) return;
    client.off('error', ignore);
    client.release(isEnded);
  }
}

const ignore = (): void => undefined;

interface Connection {
  query(sql: string, values?: unknown[]): Promise<QueryResult>;
}

/**
 * Ends the connection with a statement that the server has not answered. All others would wait behind it, until the system
 * gives the connection up, a quarter of an hour later.
 */
function endUnanswered(client: Client): Connection {
  return {
    query: async (sql, values) => {
      try {
        return await client.query(sql, values);
      } catch (error) {
        if (error instanceof Error && error.message === UNANSWERED) void client.end();
        throw error;
      }
    },
  };
}

/** Waits for each answer as long as the connection lasts, which keep-alives find out. */
function waitFor(client: Client): Connection {
  return {
    query: (text, values) => {
      const limits = { query_timeout: LONGEST_TIMER_MS };
      return client.query({ ...limits, text, ...(values && { values }) });
    },
  };
}

async function transact<T>(connection: Connection, begin: string, work: (within: Queryable) => Promise<T>): Promise<T> {
  await run(connection, begin);
  try {
    const result = await work({ query: (sql, values) => run(connection, sql, values) });
    await run(connection, 'COMMIT');
    return result;
  } catch (error) {
    await connection.query('ROLLBACK').catch(() => undefined);
    throw error;
  }
}

async function run<Row extends object>(
  connection: Connection,
  sql: string,
  values: readonly SqlValue[] = [],
): Promise<Row[]> {
  try {
    const { rows } = await connection.query(sql, [...values]);
    return rows as Row[];
  } catch (error) {
    throw isRefusal(error) ? error : toUnavailable(error);
  }
}

/** Whether the server understood the statement and refused it, for example by a constraint; not: it is ending or full. */
function isRefusal(error: unknown): boolean {
  const { code = '' } = Object(error) as { code?: string };
  return /^(2[0-8]|2[A-Z]|3[A-Z]|42|54|P0|0A|44)/.test(code);
}

/** Without the URL, which may hold a password. */
function toUnavailable(error: unknown): BookUnavailableError {
  const { code, message } = Object(error) as { code?: string; message?: string };
  const reason = message || code || 'no reason given';
  return new BookUnavailableError(`The database of the book is not available: ${reason}`, { cause: error });
}

function createConfig(connectionString: string): ClientConfig {
  return {
    connectionString,
    application_name: 'tollgate-bookkeeper',
    connectionTimeoutMillis: CONNECT_WITHIN_MS,
    statement_timeout: STATEMENT_WITHIN_MS,
    query_timeout: STATEMENT_WITHIN_MS + 5_000,
    idle_in_transaction_session_timeout: STATEMENT_WITHIN_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: ASK_AFTER_SECONDS * 1000,
    // The driver's parsers return anything.
    types: { getTypeParser: (oid, format): unknown => (oid === INT8 ? Number : types.getTypeParser(oid, format)) },
  };
}

import { Redis } from 'ioredis';

export interface RedisLogger {
  log(message: string): void;
  warn(message: string): void;
  error(message: string): void;
}

export interface RedisConnection {
  url: string;
  /** Identifies the connection in `CLIENT LIST` and in the log, e.g. `verify-requests`. */
  role: string;
  /**
   * `commands`: a command waits for at most two reconnections, then fails. `blocking`: for BLMPOP and the like; a
   * command stays pending over any number of reconnections.
   */
  use?: 'commands' | 'blocking';
  logger: RedisLogger;
}

const SILENCE_MS = 10_000;

/**
 * Connects in the background, and reconnects until it is closed. Log lines name the role and the address, never the URL's
 * credentials.
 */
export function connectRedis({ url, role, use = 'commands', logger }: RedisConnection): Redis {
  const address = describeAddress(url);
  const redis = new Redis(url, {
    connectionName: `tollgate-${role}`,
    connectTimeout: 5_000,
    // How long closing a connection that is already lost can delay the end of the process.
    disconnectTimeout: 500,
    // Detects a peer that vanished without closing (power loss, firewall).
    socketTimeout: SILENCE_MS,
    maxRetriesPerRequest: use === 'blocking' ? null : 2,
    retryStrategy: (attempt) => Math.min(50 * attempt, 1_000),
    reconnectOnError: (error) => error.message.startsWith('READONLY'),
  });
  // Logs one line per change of state, so that a long outage does not write thousands of lines.
  let state: 'new' | 'ready' | 'lost' = 'new';
  redis.on('ready', () => {
    if (state === 'lost') logger.log(`${role}: connected to ${address} again`);
    state = 'ready';
  });
  redis.on('error', (error: Error) => {
    if (state !== 'lost') logger.error(`${role}: no connection to ${address}: ${error.message || error.name}`);
    state = 'lost';
  });
  // Not `close`, which is also emitted for connections that we close.
  redis.on('reconnecting', () => {
    if (state === 'ready') {
      logger.warn(`${role}: lost the connection to ${address}`);
      state = 'lost';
    }
  });
  return redis;
}

function describeAddress(url: string): string {
  try {
    const { hostname, port, pathname } = new URL(url);
    return `${hostname}:${port === '' ? '6379' : port}${pathname === '/' ? '' : pathname}`;
  } catch {
    return 'an address that is not a URL';
  }
}

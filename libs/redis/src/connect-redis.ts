import { Cluster, Redis, SentinelConnector, type SentinelConnectionOptions } from 'ioredis';

import { noteTroubles } from './explain-redis-refusal.js';
import { failUnanswered, failWaiting, failWhileNodesLoad } from './fail-waiting-commands.js';
import { parseGroupUrl, UNREADABLE_URL, type ClientOptions } from './redis-url.js';
import { StoreError } from './store-error.js';
import { takeWarnings } from './warn-once.js';

/** One server, the primary that Sentinels name, or a cluster. */
export type RedisClient = Redis | Cluster;

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
   * `commands`: a command waits for at most two reconnections, or rounds of the Sentinels, and some seconds for a server
   * that loads its data, then fails. `blocking`: for BLMPOP and the like; a command stays pending over any number of reconnections.
   */
  use?: 'commands' | 'blocking';
  logger: RedisLogger;
}

/** Detects a peer that vanished without closing (power loss, firewall). */
export const SOCKET_TIMEOUT_MS = 10_000;
const SLOTS_WITHIN_MS = 2_000;
const SENTINEL_WITHIN_MS = 2_000;

/**
 * Connects in the background, and reconnects until it is closed. Log lines name the role and the address, never the URL's
 * credentials.
 */
export function connectRedis({ url, role, use = 'commands', logger }: RedisConnection): RedisClient {
  const address = describeAddress(url);
  const redis: RedisClient = createRedis(url, {
    connectionName: `tollgate-${role}`,
    connectTimeout: 5_000,
    // How long closing a connection that is already lost can delay the end of the process.
    disconnectTimeout: 500,
    socketTimeout: SOCKET_TIMEOUT_MS,
    maxRetriesPerRequest: use === 'blocking' ? null : 2,
    retryStrategy: (attempt) => Math.min(50 * attempt, 1_000),
    reconnectOnError: (error) => error.message.startsWith('READONLY'),
  });
  takeWarnings(redis, (message) => logger.warn(`${role}: ${message}`));
  // Logs one line per change of state, so that a long outage does not write thousands of lines.
  let state: 'new' | 'ready' | 'lost' = 'new';
  // The reason why no Sentinel named a primary; the error that follows does not always contain it.
  let sentinelTrouble: string | undefined;
  redis.on('sentinelError', (error: Error) => (sentinelTrouble = error.message));
  redis.on('ready', () => {
    sentinelTrouble = undefined;
    if (state === 'lost') logger.log(`${role}: connected to ${address} again`);
    state = 'ready';
  });
  redis.on('error', (error: Error) => {
    if (state === 'lost') return;
    state = 'lost';
    const reason = sentinelTrouble ?? (error.message || error.name);
    const say = (cause: string) => logger.error(`${role}: no connection to ${address}: ${cause}`);
    if (redis.isCluster) void findNodeTrouble(url).then((trouble) => say(trouble?.message ?? reason));
    else say(reason);
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

/**
 * A client of the server at the URL, of its cluster, or of the primary that its Sentinels name; after a failover, of the
 * next one. `retryStrategy` also decides about a cluster that does not answer, and about Sentinels.
 * @throws StoreError for a URL that cannot be read
 */
export function createRedis(url: string, options: ClientOptions): RedisClient {
  const redis = endWhenClosed(createClient(url, options));
  if (!redis.isCluster) failUnanswered(redis as Redis);
  noteTroubles(redis);
  return redis;
}

/**
 * Ends a client that is closed while it waits to connect again, or looks up the names of its cluster. The driver would
 * only stop: without `end`, and with the commands that wait pending for ever.
 */
function endWhenClosed<Client extends RedisClient>(redis: Client): Client {
  const disconnect = redis.disconnect.bind(redis);
  redis.disconnect = (reconnect = false) => {
    // The driver ends one that has not connected yet.
    if (!reconnect && (redis.status === 'reconnecting' || isLookingUp(redis))) redis.status = 'wait';
    disconnect(reconnect);
  };
  return redis;
}

function isLookingUp(redis: RedisClient): boolean {
  return redis.isCluster && redis.status === 'connecting' && (redis as Cluster).nodes().length === 0;
}

function createClient(url: string, options: ClientOptions): RedisClient {
  const group = parseGroupUrl(url);
  if (group === null) return createSingle(url, options);
  if (group.kind === 'sentinel') {
    const following: ClientOptions = {
      Connector: SuccessorConnector,
      // Leaves a primary that hangs as soon as the Sentinels have replaced it.
      failoverDetector: true,
      sentinelCommandTimeout: SENTINEL_WITHIN_MS,
      ...(options.retryStrategy && { sentinelRetryStrategy: options.retryStrategy }),
    };
    return new Redis({ ...following, ...options, ...group.options });
  }
  const { lazyConnect, retryStrategy, ...redisOptions } = { ...options, ...group.options };
  const cluster = new Cluster(group.nodes, {
    redisOptions,
    slotsRefreshTimeout: SLOTS_WITHIN_MS,
    ...(lazyConnect !== undefined && { lazyConnect }),
    ...(retryStrategy && { clusterRetryStrategy: failWaiting(retryStrategy) }),
    // Keeps host names, which certificates name, instead of resolving them.
    ...(redisOptions.tls && { dnsLookup: (host, found) => found(null, host) }),
  });
  return failWhileNodesLoad(keepSlots(cluster));
}

function createSingle(url: string, options: ClientOptions): Redis {
  try {
    return new Redis(url, options);
  } catch {
    // Without the cause, which shows the whole URL.
    throw new StoreError('redis_url_invalid', `The URL of this Redis ${UNREADABLE_URL}.`, 'Correct the URL.');
  }
}

/**
 * Reads the slots again at intervals, so that a primary that hangs is left soon once the cluster has replaced it. The
 * driver's own timer goes on for ever where the client is closed while the slots are read, and keeps its process alive.
 */
function keepSlots(cluster: Cluster): Cluster {
  const timer = setInterval(() => cluster.refreshSlotsCache(), SLOTS_WITHIN_MS).unref();
  cluster.once('end', () => clearInterval(timer));
  return cluster;
}

/**
 * Ends the failover detector of the lost connection before the next one is sought. Left alone, the driver's detector
 * aborts that search when a Sentinel announces the new primary, and the client never connects again.
 */
class SuccessorConnector extends SentinelConnector {
  constructor(options: unknown) {
    super(options as SentinelConnectionOptions);
  }

  override connect(onError: Parameters<SentinelConnector['connect']>[0]): ReturnType<SentinelConnector['connect']> {
    this.disconnect();
    return super.connect(onError);
  }
}

/** What the first node of a cluster's URL answers a connection; null when it takes it. The driver hides these reasons. */
export async function findNodeTrouble(url: string): Promise<NodeJS.ErrnoException | null> {
  const group = parseGroupUrl(url);
  if (group?.kind !== 'cluster') return null;
  const limits = { lazyConnect: true, connectTimeout: SLOTS_WITHIN_MS, retryStrategy: () => null };
  const node = new Redis({ ...group.options, ...group.nodes[0], ...limits });
  let trouble: NodeJS.ErrnoException | null = null;
  node.on('error', (error: NodeJS.ErrnoException) => (trouble = error));
  await node.connect().catch(() => undefined);
  node.disconnect();
  return trouble;
}

/** Another connection of the same kind to the same servers. */
export function duplicateRedis(redis: RedisClient, options: ClientOptions): RedisClient {
  if (!redis.isCluster) return failUnanswered(endWhenClosed((redis as Redis).duplicate(options)));
  const cluster = redis as Cluster;
  const own: ClientOptions = cluster.options.redisOptions ?? {};
  const twin = cluster.duplicate([], { redisOptions: { ...own, ...options } });
  return failWhileNodesLoad(keepSlots(endWhenClosed(twin)));
}

function describeAddress(url: string): string {
  const group = parseGroupUrl(url);
  if (group !== null) return group.address;
  try {
    const { hostname, port, pathname } = new URL(url);
    return `${hostname}:${port === '' ? '6379' : port}${pathname === '/' ? '' : pathname}`;
  } catch {
    return 'an address that is not a URL';
  }
}

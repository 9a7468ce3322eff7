import { Inject, Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import { openEventStream, ProblemError, type ApiKey } from '@tollgate/common';
import type { FastifyReply } from 'fastify';

import { GatewayEnvironment } from '../../config/gateway.config.js';
import { isOperator } from '../access/caller.js';
import { AgentConnections } from '../shared/agent-connections.js';
import { readStart, type EventFilter } from './event-request.js';
import { EventStream, WalletNames } from './event-stream.js';
import { EventTail } from './event-tail.js';

const LOOK_AT_KEYS_MS = 2_000;

/** The event streams of this process: limits their number and ends them. */
@Injectable()
export class EventStreams implements BeforeApplicationShutdown {
  readonly #tail: EventTail;
  readonly #names: WalletNames;
  readonly #ofKeys = new Map<string, Set<EventStream>>();
  #keyTimer: NodeJS.Timeout | null = null;
  #isStopping = false;

  constructor(
    @Inject(AgentConnections) private readonly connections: AgentConnections,
    @Inject(GatewayEnvironment) private readonly environment: GatewayEnvironment,
  ) {
    this.#tail = new EventTail(connections.journal, connections.follower, (error) => connections.report(error));
    this.#names = new WalletNames(connections);
  }

  get count(): number {
    return [...this.#ofKeys.values()].reduce((sum, { size }) => sum + size, 0);
  }

  /**
   * Streams events to the caller; resolves when the stream has ended.
   * @throws ProblemError if the limit is reached, or `lastEventId` is not a valid position
   */
  async serve(
    caller: ApiKey,
    filter: EventFilter,
    lastEventId: string | undefined,
    reply: FastifyReply,
  ): Promise<void> {
    const stream = this.#open(caller, filter);
    try {
      await this.#tail.join(stream);
      const start = await readStart(this.connections.journal, lastEventId, this.#tail.position);
      await stream.run(openEventStream(reply), start);
    } catch (error) {
      if (!reply.raw.headersSent) throw error;
      this.connections.report(error);
      reply.raw.destroy();
    } finally {
      this.#tail.leave(stream);
      this.#forget(caller, stream);
    }
  }

  /** Runs before the server waits for open requests: streams would keep it waiting forever. */
  beforeApplicationShutdown(): void {
    this.#isStopping = true;
    for (const keyId of this.#ofKeys.keys()) this.#endStreamsOf(keyId);
  }

  #open(caller: ApiKey, { type: types, jobId }: EventFilter): EventStream {
    const { agentStreams, agentStreamsPerKey, ...settings } = this.environment.agentJobs;
    const streams = this.#ofKeys.get(caller.id) ?? new Set();
    if (this.#isStopping || this.count >= agentStreams || streams.size >= agentStreamsPerKey) {
      throw new ProblemError({
        status: 429,
        code: 'too_many_streams',
        detail: 'The limit of open event streams is reached. Close one, or try again after Retry-After.',
        retryAfterMs: 10_000,
      });
    }
    const stream = new EventStream({
      tail: this.#tail,
      names: this.#names,
      heartbeatMs: settings.agentStreamHeartbeatMs,
      stallMs: settings.agentStreamStallMs,
      wants: (event) =>
        (isOperator(caller) || event.keyId === caller.id) &&
        (types === undefined || types.includes(event.type)) &&
        (jobId === undefined || event.jobId === jobId),
    });
    this.#ofKeys.set(caller.id, streams.add(stream));
    this.#keyTimer ??= setInterval(() => void this.#endRevoked(), LOOK_AT_KEYS_MS).unref();
    return stream;
  }

  #forget(caller: ApiKey, stream: EventStream): void {
    const streams = this.#ofKeys.get(caller.id);
    streams?.delete(stream);
    if (streams?.size === 0) this.#ofKeys.delete(caller.id);
    if (this.#ofKeys.size > 0 || this.#keyTimer === null) return;
    clearInterval(this.#keyTimer);
    this.#keyTimer = null;
  }

  async #endRevoked(): Promise<void> {
    try {
      for (const keyId of [...this.#ofKeys.keys()]) {
        const key = await this.connections.within(this.connections.keys.read(keyId));
        if (key === null || key.revokedAtMs !== null) this.#endStreamsOf(keyId);
      }
    } catch (error) {
      this.connections.report(error);
    }
  }

  #endStreamsOf(keyId: string): void {
    for (const stream of this.#ofKeys.get(keyId) ?? []) stream.end();
  }
}

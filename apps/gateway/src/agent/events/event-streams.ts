import { Inject, Injectable, type BeforeApplicationShutdown } from '@nestjs/common';
import { openEventStream, OpenStreams, type ApiKey } from '@tollgate/http';
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
  readonly #open: OpenStreams<EventStream>;
  #keyTimer: NodeJS.Timeout | null = null;

  constructor(
    @Inject(AgentConnections) private readonly connections: AgentConnections,
    @Inject(GatewayEnvironment) private readonly environment: GatewayEnvironment,
  ) {
    this.#tail = new EventTail(connections.journal, connections.follower, (error) => connections.report(error));
    this.#names = new WalletNames(connections);
    const { agentStreamsPerKey: ofKey, agentStreams: ofAll } = environment.agentJobs;
    this.#open = new OpenStreams({ ofKey, ofAll });
  }

  get count(): number {
    return this.#open.count;
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
    const stream = this.#create(caller, filter);
    this.#open.add(caller.id, stream);
    this.#keyTimer ??= setInterval(() => void this.#endRevoked(), LOOK_AT_KEYS_MS).unref();
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
      this.#open.remove(caller.id, stream);
      if (this.count === 0) this.#stopLooking();
    }
  }

  /** Runs before the server waits for open requests: streams would keep it waiting forever. */
  beforeApplicationShutdown(): void {
    this.#open.stop();
  }

  #create(caller: ApiKey, { type: types, jobId }: EventFilter): EventStream {
    const { agentStreamHeartbeatMs: heartbeatMs, agentStreamStallMs: stallMs } = this.environment.agentJobs;
    return new EventStream({
      tail: this.#tail,
      names: this.#names,
      heartbeatMs,
      stallMs,
      wants: (event) =>
        (isOperator(caller) || event.keyId === caller.id) &&
        (types === undefined || types.includes(event.type)) &&
        (jobId === undefined || event.jobId === jobId),
    });
  }

  #stopLooking(): void {
    if (this.#keyTimer !== null) clearInterval(this.#keyTimer);
    this.#keyTimer = null;
  }

  async #endRevoked(): Promise<void> {
    try {
      for (const keyId of this.#open.keyIds) {
        const key = await this.connections.within(this.connections.keys.read(keyId));
        if (key === null || key.revokedAtMs !== null) this.#open.endOf(keyId);
      }
    } catch (error) {
      this.connections.report(error);
    }
  }
}

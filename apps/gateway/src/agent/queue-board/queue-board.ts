import { createBullBoard } from '@bull-board/api';
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import { FastifyAdapter } from '@bull-board/fastify';
import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import { AGENT_JOBS_QUEUE, openQueue, wakeQueueOf } from '@tollgate/agent-jobs';
import { nameLane } from '@tollgate/journal';
import type { QueueJobs } from '@tollgate/transport';
import type { Queue } from 'bullmq';
import type { FastifyInstance } from 'fastify';

import { ApiKeyAdmission } from '../access/api-key-access.js';
import { AgentConnections } from '../shared/agent-connections.js';

type ApiRoutes = Parameters<FastifyAdapter['setApiRoutes']>[0];

/**
 * A board without routes that change anything: browsers send the key automatically, even for a request from another
 * site's page.
 */
class ReadOnlyAdapter extends FastifyAdapter {
  override setApiRoutes(routes: ApiRoutes): FastifyAdapter {
    return super.setApiRoutes(routes.filter(({ method }) => [method].flat().every((one) => one === 'get')));
  }
}

const PATH = '/agent/queues';

/** The access rule of the board. It accepts `Basic`, since a browser has no other way to send a key. */
export const QUEUE_BOARD_PATHS = {
  paths: [PATH, `${PATH}/*`],
  access: new ApiKeyAdmission(['operator'], true),
};

// Allows only the page's own files. Some of its styles are inline, and its external fonts are blocked.
const HEADERS = {
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'self'; form-action 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
};

const REFRESH_MS = 5_000;

/** `GET /agent/queues`: a page that shows the queues to operators. */
@Injectable()
export class QueueBoard implements OnModuleDestroy {
  readonly #queues: Queue[] = [];
  readonly #names = new Set<string>();
  #readAtMs = Number.NEGATIVE_INFINITY;

  constructor(@Inject(AgentConnections) private readonly connections: AgentConnections) {}

  async register(server: FastifyInstance): Promise<void> {
    const serverAdapter = new ReadOnlyAdapter().setBasePath(PATH);
    const board = createBullBoard({
      // One more for each lane.
      queues: [this.#open(AGENT_JOBS_QUEUE, 'Jobs that other services enqueue directly.')],
      serverAdapter,
      options: { uiConfig: { boardTitle: 'Tollgate', hideDocsLink: true } },
    });
    await server.register(async (scope) => {
      scope.addHook('onRequest', async (_request, reply) => {
        void reply.headers(HEADERS);
      });
      scope.addHook('preHandler', async () => {
        try {
          for (const queue of await this.#openNew()) board.addQueue(queue);
        } catch (error) {
          // The known queues are shown anyway.
          this.connections.report(error);
        }
      });
      await scope.register(serverAdapter.registerPlugin(), { prefix: PATH });
    });
  }

  async onModuleDestroy(): Promise<void> {
    await Promise.allSettled(this.#queues.map((queue) => queue.close()));
  }

  /** The queues of new lanes. New lanes are rare, so the journal is not read for every request. */
  async #openNew(): Promise<BullMQAdapter[]> {
    if (performance.now() - this.#readAtMs < REFRESH_MS) return [];
    const lanes = await this.connections.journal.readLanes();
    this.#readAtMs = performance.now();
    return lanes
      .filter((lane) => !this.#names.has(wakeQueueOf(lane)))
      .map((lane) => this.#open(wakeQueueOf(lane), `Wake-ups for the jobs of ${nameLane(lane)}.`));
  }

  #open(name: keyof QueueJobs, description: string): BullMQAdapter {
    const queue = openQueue(name, this.connections.queueRedis);
    this.#names.add(name);
    this.#queues.push(queue);
    const adapter = new BullMQAdapter(queue, { readOnlyMode: true, allowRetries: false, description });
    adapter.setFormatter('data', hideSignature);
    return adapter;
  }
}

/** Hides the signature: a reader of the board could submit a signed message again that was not executed yet. */
function hideSignature(data: unknown): unknown {
  if (typeof data !== 'object' || data === null || !('signature' in data)) return data;
  return { ...data, signature: '[hidden]' };
}

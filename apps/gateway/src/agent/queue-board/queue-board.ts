import { createBullBoard } from '@bull-board/api';
import { FastifyAdapter } from '@bull-board/fastify';
import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import type { FastifyInstance } from 'fastify';

import { ApiKeyAdmission } from '../access/api-key-access.js';
import { AgentConnections } from '../shared/agent-connections.js';
import { BoardQueues } from './board-queues.js';

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

/** `GET /agent/queues`: a page that shows the queues to operators. */
@Injectable()
export class QueueBoard implements OnModuleDestroy {
  readonly #queues: BoardQueues;

  constructor(@Inject(AgentConnections) private readonly connections: AgentConnections) {
    this.#queues = new BoardQueues(connections);
  }

  async register(server: FastifyInstance): Promise<void> {
    const serverAdapter = new ReadOnlyAdapter().setBasePath(PATH);
    const board = createBullBoard({
      queues: this.#queues.openFixed(),
      serverAdapter,
      options: { uiConfig: { boardTitle: 'Tollgate', hideDocsLink: true } },
    });
    await server.register(async (scope) => {
      scope.addHook('onRequest', async (_request, reply) => {
        void reply.headers(HEADERS);
      });
      scope.addHook('preHandler', async () => {
        try {
          for (const queue of await this.#queues.openNew()) board.addQueue(queue);
        } catch (error) {
          // The known queues are shown anyway.
          this.connections.report(error);
        }
      });
      await scope.register(serverAdapter.registerPlugin(), { prefix: PATH });
    });
  }

  async onModuleDestroy(): Promise<void> {
    await this.#queues.close();
  }
}

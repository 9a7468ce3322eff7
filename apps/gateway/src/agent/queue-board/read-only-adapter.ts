import { FastifyAdapter } from '@bull-board/fastify';

type ApiRoutes = Parameters<FastifyAdapter['setApiRoutes']>[0];

/**
 * A board without routes that change anything: browsers send the key automatically, even for a request from another
 * site's page.
 */
export class ReadOnlyAdapter extends FastifyAdapter {
  override setApiRoutes(routes: ApiRoutes): FastifyAdapter {
    return super.setApiRoutes(routes.filter(({ method }) => [method].flat().every((one) => one === 'get')));
  }
}

import { FastifyAdapter } from '@bull-board/fastify';

type ApiRoutes = Parameters<FastifyAdapter['setApiRoutes']>[0];

/** A board without a single route that changes something: browsers send the key unasked, whoever wrote the page. */
export class ReadOnlyAdapter extends FastifyAdapter {
  override setApiRoutes(routes: ApiRoutes): FastifyAdapter {
    return super.setApiRoutes(routes.filter(({ method }) => [method].flat().every((one) => one === 'get')));
  }
}

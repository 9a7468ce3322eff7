import 'reflect-metadata';
import { Logger } from '@nestjs/common';
import { readEnvironment, runService } from '@tollgate/common';

import { createGateway } from './create-gateway.js';
import { GatewayEnvironment } from './gateway.config.js';
import { loadPaidRoutes } from './resources/load-paid-routes.js';

await runService('gateway', async () => {
  const environment = readEnvironment(GatewayEnvironment, process.env);
  const app = await createGateway(environment, loadPaidRoutes(environment));
  const { host, port } = environment.server;
  await app.listen(port, host);
  new Logger('Gateway').log(`listening on ${await app.getUrl()}`);
  return { close: () => app.close(), shutdownTimeoutMs: environment.shutdown.shutdownTimeoutMs };
});

import 'reflect-metadata';
import { Logger } from '@nestjs/common';
import { runService } from '@tollgate/common';
import { checkCrypto } from '@tollgate/crypto';

import { createGateway } from './create-gateway.js';
import { readConfiguration } from './read-configuration.js';
import { drain } from './server/drain.js';

void runService('gateway', async () => {
  const secp256k1 = await checkCrypto();
  const { environment, routes, warnings } = readConfiguration(process.env);
  const app = await createGateway(environment, routes);
  for (const warning of warnings) new Logger('Settings').warn(warning);
  const { host, port } = environment.server;
  await app.listen(port, host);
  new Logger('Gateway').log(`secp256k1: ${secp256k1}`);
  new Logger('Gateway').log(`listening on ${await app.getUrl()}`);
  const { drainMs } = environment.server;
  const close = async (): Promise<void> => {
    await drain(app.getHttpServer(), drainMs);
    await app.close();
  };
  return { close, shutdownTimeoutMs: drainMs + environment.shutdown.shutdownTimeoutMs };
});

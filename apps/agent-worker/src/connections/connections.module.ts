import { Global, Module } from '@nestjs/common';
import { WalletDirectory } from '@tollgate/agent-jobs';
import { ApiKeyStore } from '@tollgate/http';
import { Chain, Journal } from '@tollgate/journal';

import { LaneTroubles } from './lane-troubles.js';
import { WorkerConnections } from './worker-connections.js';

const inject = [WorkerConnections];

@Global()
@Module({
  providers: [
    LaneTroubles,
    WorkerConnections,
    { provide: Chain, inject, useFactory: ({ chain }: WorkerConnections) => chain },
    { provide: Journal, inject, useFactory: ({ journal }: WorkerConnections) => journal },
    { provide: WalletDirectory, inject, useFactory: (to: WorkerConnections) => new WalletDirectory(to.journalRedis) },
    { provide: ApiKeyStore, inject, useFactory: (to: WorkerConnections) => new ApiKeyStore(to.journalRedis) },
  ],
  exports: [LaneTroubles, WorkerConnections, Chain, Journal, WalletDirectory, ApiKeyStore],
})
export class ConnectionsModule {}

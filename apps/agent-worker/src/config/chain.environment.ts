import { IsIntIn, RpcEnvironment, Setting } from '@tollgate/common';

/** The chain on which the wallets' jobs are carried out. */
export class WorkerChainEnvironment extends RpcEnvironment {
  @Setting({ help: 'Chain id of the network; compared at start with that of the RPC servers.' })
  @IsIntIn(1)
  readonly chainId: number = 1328;

  @Setting({
    help: 'JSON-RPC calls that the agent worker puts into one request; 1 for servers that do not support batches.',
  })
  @IsIntIn(1, 1_000)
  readonly rpcCallsPerRequest: number = 100;
}

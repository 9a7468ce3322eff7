import { RpcEnvironment, Setting } from '@tollgate/common';
import { IsInt, Max, Min } from 'class-validator';

/** The chain that the wallets' jobs are carried out on. */
export class ChainEnvironment extends RpcEnvironment {
  @Setting({ help: 'The chain id behind the network; the chain is asked for its own at start.' })
  @IsInt()
  @Min(1)
  readonly chainId: number = 1328;

  @Setting({ help: 'JSON-RPC calls that the agent worker puts into one request; 1 for servers that take no batches.' })
  @IsInt()
  @Min(1)
  @Max(1_000)
  readonly rpcCallsPerRequest: number = 100;
}

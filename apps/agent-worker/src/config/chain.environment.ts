import { Setting, type ChecksTogether } from '@tollgate/common';
import { ArrayNotEmpty, IsArray, IsInt, Max, Min } from 'class-validator';

/** The chain that the wallets' jobs are carried out on. */
export class ChainEnvironment implements ChecksTogether {
  @Setting({ help: 'The chain id behind the network; the chain is asked for its own at start.' })
  @IsInt()
  @Min(1)
  readonly chainId: number = 1328;

  @Setting({
    // The path or the user part often is an API key.
    secret: true,
    as: 'list',
    help: 'JSON-RPC servers of the chain, http or https, comma separated, the preferred one first.',
    example: 'https://rpc.example/v1,https://other.example',
  })
  @IsArray()
  @ArrayNotEmpty()
  readonly rpcUrl!: string[];

  @Setting({ help: 'Milliseconds one RPC server has to answer a batch; then the next one is asked.' })
  @IsInt()
  @Min(50)
  @Max(60_000)
  readonly rpcTimeoutMs: number = 3_000;

  @Setting({ help: 'JSON-RPC calls that the agent worker puts into one request; 1 for servers that take no batches.' })
  @IsInt()
  @Min(1)
  @Max(1_000)
  readonly rpcCallsPerRequest: number = 100;

  problemsTogether(): string[] {
    return this.rpcUrl.flatMap((url, index) =>
      isHttpUrl(url) ? [] : [`RPC_URL: entry ${index + 1} is not an http:// or https:// URL (its value is not shown).`],
    );
  }
}

function isHttpUrl(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}

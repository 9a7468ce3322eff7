import { Setting, type ChecksTogether } from '@tollgate/common';
import { ArrayNotEmpty, IsArray, IsInt, Max, Min } from 'class-validator';

/** How the chain is asked. */
export class ChainEnvironment implements ChecksTogether {
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

  @Setting({ help: 'Payments looked up in one JSON-RPC batch (two calls each).' })
  @IsInt()
  @Min(1)
  @Max(1_000)
  readonly rpcBatchSize: number = 50;

  @Setting({ help: 'Batches under way at once.' })
  @IsInt()
  @Min(1)
  @Max(256)
  readonly rpcBatchesInFlight: number = 8;

  @Setting({ help: 'Longest answer to a batch in bytes; a longer one is cut off and not believed.' })
  @IsInt()
  @Min(65_536)
  readonly rpcMaxResponseBytes: number = 16_777_216;

  problemsTogether(): string[] {
    return this.rpcUrl.flatMap((url, index) =>
      isHttpUrl(url) ? [] : [`RPC_URL: entry ${index + 1} is not an http:// or https:// URL (its value is not shown).`],
    );
  }
}

function isHttpUrl(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}

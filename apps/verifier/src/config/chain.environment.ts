import { RpcEnvironment, Setting } from '@tollgate/common';
import { IsInt, Max, Min } from 'class-validator';

/** How the verifier reads the chain. */
export class ChainEnvironment extends RpcEnvironment {
  @Setting({
    help: 'Payments looked up in one JSON-RPC batch (two calls each, three to seven for a signed payment).',
  })
  @IsInt()
  @Min(1)
  @Max(1_000)
  readonly rpcBatchSize: number = 50;

  @Setting({ help: 'JSON-RPC batches in flight at once.' })
  @IsInt()
  @Min(1)
  @Max(256)
  readonly rpcBatchesInFlight: number = 8;

  @Setting({ help: 'Longest answer to a batch in bytes; a longer one is cut off and rejected.' })
  @IsInt()
  @Min(65_536)
  readonly rpcMaxResponseBytes: number = 16_777_216;

  @Setting({
    help: 'Longest answer about one transaction in bytes; a transaction with a longer receipt (some 1,400 transfers) is refused as a payment.',
  })
  @IsInt()
  @Min(65_536)
  readonly rpcMaxReceiptBytes: number = 1_048_576;

  @Setting({ help: 'Blocks that one log search spans; RPC servers limit it.' })
  @IsInt()
  @Min(1)
  @Max(1_000_000)
  readonly rpcLogRangeBlocks: number = 2_000;
}

import { IsIntIn, RpcEnvironment, Setting } from '@tollgate/common';

/** How the verifier reads the chain. */
export class ChainEnvironment extends RpcEnvironment {
  @Setting({
    help: 'Payments looked up in one JSON-RPC batch (two calls each, three to seven for a signed payment).',
  })
  @IsIntIn(1, 1_000)
  readonly rpcBatchSize: number = 50;

  @Setting({ help: 'JSON-RPC batches in flight at once.' })
  @IsIntIn(1, 256)
  readonly rpcBatchesInFlight: number = 8;

  @Setting({ help: 'Longest answer to a batch in bytes; a longer one is cut off and rejected.' })
  @IsIntIn(65_536)
  readonly rpcMaxResponseBytes: number = 16_777_216;

  @Setting({
    help: 'Longest answer about one transaction in bytes; a transaction with a longer receipt (some 1,400 transfers) is refused as a payment.',
  })
  @IsIntIn(65_536)
  readonly rpcMaxReceiptBytes: number = 1_048_576;

  @Setting({ help: 'Blocks that one log search spans; RPC servers limit it.' })
  @IsIntIn(1, 1_000_000)
  readonly rpcLogRangeBlocks: number = 2_000;
}

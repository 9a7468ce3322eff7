import { findUrlProblems, IsIntIn, Setting, type ChecksEntries, type Warns } from '@tollgate/config';
import { IsArray, IsOptional, Matches } from 'class-validator';

/** How the bookkeeper compares the book with the chain. */
export class ReconcileEnvironment implements ChecksEntries, Warns {
  @Setting({
    // The path or user name is often an API key.
    secret: true,
    as: 'list',
    help: 'JSON-RPC servers to compare the book with, comma separated, the preferred one first. Without any, it is not compared.',
    example: 'https://rpc.example/v1,https://other.example',
  })
  @IsArray()
  readonly reconcileRpcUrl: string[] = [];

  @Setting({ help: 'Blocks, with its own, after which a transaction is final for the book.' })
  @IsIntIn(1, 100_000)
  readonly reconcileConfirmations: number = 12;

  @Setting({
    help: 'Blocks that one eth_getLogs spans at most.',
  })
  @IsIntIn(1, 1_000_000)
  readonly reconcileRangeBlocks: number = 2_000;

  @Setting({
    help: 'Seconds after which chain and book must agree. Money without an event is then booked as unclaimed.',
  })
  @IsIntIn(0, 86_400)
  readonly reconcileGraceSeconds: number = 60;

  @Setting({ help: 'Milliseconds between two comparisons of the book with the chain.' })
  @IsIntIn(10, 3_600_000)
  readonly reconcileIntervalMs: number = 5_000;

  @Setting({
    help: 'Base units below which unclaimed transfers are summed; 0: none. Without it, a tenth of the cheapest price of the last 1,000 sales.',
    example: '100',
  })
  @IsOptional()
  @Matches(/^(0|[1-9]\d{0,77})$/, { message: '$property must be base units, a whole number' })
  readonly bookLeastUnclaimed?: string;

  get warnings(): string[] {
    if (this.reconcileConfirmations > 1) return [];
    const why = 'what a reorganisation takes back is booked, and may be refunded';
    return [`RECONCILE_CONFIRMATIONS=1: ${why}. Set as many blocks as your chain may replace.`];
  }

  problemsOfEntries(): string[] {
    return findUrlProblems('RECONCILE_RPC_URL', this.reconcileRpcUrl);
  }
}

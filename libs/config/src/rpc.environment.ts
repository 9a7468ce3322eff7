import { ArrayNotEmpty, IsArray } from 'class-validator';

import type { ChecksEntries } from './read-environment.js';
import { IsIntIn, Setting } from './setting.js';
import { findUrlProblems } from './url-problems.js';

/** The RPC servers of the chain; each service adds its own settings. */
export class RpcEnvironment implements ChecksEntries {
  @Setting({
    // The path or user name is often an API key.
    secret: true,
    as: 'list',
    help: 'JSON-RPC servers of the chain, http or https, comma separated, the preferred one first. They answer `eth_call` at the number of their newest block: with one that does not, a payment whose transaction failed stays pending for 64 blocks and 60 seconds.',
    example: 'https://rpc.example/v1,https://other.example',
  })
  @IsArray()
  @ArrayNotEmpty()
  readonly rpcUrl!: string[];

  @Setting({ help: 'Milliseconds one RPC server has to answer a batch; then the next server is asked.' })
  @IsIntIn(50, 60_000)
  readonly rpcTimeoutMs: number = 3_000;

  problemsOfEntries(): string[] {
    return findUrlProblems('RPC_URL', this.rpcUrl);
  }
}

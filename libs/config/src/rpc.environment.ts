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
    help:
      'JSON-RPC servers of the chain, comma separated, the preferred one first. They must answer `eth_call` at the newest block: else a payment ' +
      'whose transaction failed stays pending for 64 blocks and 60 seconds.',
    example: 'https://rpc.example/v1,https://other.example',
  })
  @IsArray()
  @ArrayNotEmpty()
  readonly rpcUrl!: string[];

  @Setting({ help: 'Milliseconds one RPC server has for a batch; then the next is asked.' })
  @IsIntIn(50, 60_000)
  readonly rpcTimeoutMs: number = 3_000;

  problemsOfEntries(): string[] {
    return findUrlProblems('RPC_URL', this.rpcUrl);
  }
}

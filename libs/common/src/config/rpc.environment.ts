import { isHttpUrl } from '@tollgate/protocol';
import { ArrayNotEmpty, IsArray } from 'class-validator';

import { IsIntIn } from './is-int-in.js';
import type { ChecksEntries } from './read-environment.js';
import { Setting } from './setting.js';

/** The RPC servers of the chain; each service adds its own settings. */
export class RpcEnvironment implements ChecksEntries {
  @Setting({
    // The path or user name is often an API key.
    secret: true,
    as: 'list',
    help: 'JSON-RPC servers of the chain, http or https, comma separated, the preferred one first.',
    example: 'https://rpc.example/v1,https://other.example',
  })
  @IsArray()
  @ArrayNotEmpty()
  readonly rpcUrl!: string[];

  @Setting({ help: 'Milliseconds one RPC server has to answer a batch; then the next server is asked.' })
  @IsIntIn(50, 60_000)
  readonly rpcTimeoutMs: number = 3_000;

  problemsOfEntries(): string[] {
    return this.rpcUrl.flatMap((url, index) =>
      isHttpUrl(url) ? [] : [`RPC_URL: entry ${index + 1} is not an http:// or https:// URL (its value is not shown).`],
    );
  }
}

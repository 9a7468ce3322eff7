import { IsOptional, IsUrl } from 'class-validator';

import { Setting } from './setting.js';

/** Where people look at transactions. */
export class ExplorerEnvironment {
  @Setting({
    help: 'Block explorer: log and pages link to {EXPLORER_URL}/tx/{hash}.',
    example: 'https://explorer.example',
  })
  @IsOptional()
  @IsUrl({ protocols: ['http', 'https'], require_protocol: true, require_tld: false })
  readonly explorerUrl?: string;
}

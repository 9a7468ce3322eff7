import type { Hex, TokenDomain } from '@tollgate/protocol';
import { IsArray } from 'class-validator';

import type { ChecksEntries } from './read-environment.js';
import { Setting } from './setting.js';

/** A token that signed payments may be in: its address in lower case, name and version of its EIP-712 domain. */
export type SignedAsset = Omit<TokenDomain, 'chainId'>;

/** The tokens besides ASSET_ADDRESS: the gateway and the verifier must agree on them. */
export class AssetEnvironment implements ChecksEntries {
  @Setting({
    help:
      'Tokens that others may have payments settled in, comma separated, each as address:name:version with name and ' +
      'version of its EIP-712 domain; ASSET_ADDRESS is always one.',
    example: '0x5425890298aed601595a70AB815c96711a31Bc65:USD Coin:2',
  })
  @IsArray()
  readonly facilitatorAssets: string[] = [];

  /** The tokens of FACILITATOR_ASSETS. */
  get assets(): SignedAsset[] {
    return this.facilitatorAssets.flatMap((text) => parseAsset(text) ?? []);
  }

  problemsOfEntries(): string[] {
    return this.facilitatorAssets.flatMap((text) =>
      parseAsset(text) ? [] : [`FACILITATOR_ASSETS: "${text}" is not address:name:version.`],
    );
  }
}

/** The name may hold colons, the version may not. */
function parseAsset(text: string): SignedAsset | null {
  const [, asset, name, version] = /^(0x[0-9a-f]{40}):(.{1,64}):([^:]{1,32})$/i.exec(text) ?? [];
  if (asset === undefined || name === undefined || version === undefined) return null;
  return { asset: asset.toLowerCase() as Hex, name, version };
}

import { isAddress, lowerHex, type Hex, type TokenDomain } from '@tollgate/protocol';
import { IsArray } from 'class-validator';

import type { ChecksEntries } from './read-environment.js';
import { Setting } from './setting.js';

/** A token accepted for signed payments: its address in lower case, name and version of its EIP-712 domain. */
export type SignedAsset = Omit<TokenDomain, 'chainId'>;

/**
 * Tokens and wallet factories accepted for signed payments besides ASSET_ADDRESS. Gateways and verifiers need the same
 * values.
 */
export class SignedPaymentsEnvironment implements ChecksEntries {
  @Setting({
    help: 'Further tokens that the facilitator settles, comma separated, each as address:name:version of its EIP-712 domain.',
    example: '0x5425890298aed601595a70AB815c96711a31Bc65:USD Coin:2',
  })
  @IsArray()
  readonly facilitatorAssets: string[] = [];

  @Setting({
    help: 'Further factories that may deploy the wallet that signed a payment (EIP-6492), comma separated; any call of theirs is made. Coinbase Smart Wallet 1 and 1.1 and Light Account 1.0.1 to 2.0.0 are known.',
    example: '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
  })
  @IsArray()
  readonly eip6492Factories: string[] = [];

  /** The tokens of FACILITATOR_ASSETS. */
  get assets(): SignedAsset[] {
    return this.facilitatorAssets.flatMap((text) => parseAsset(text) ?? []);
  }

  /** Those that the operator names, in lower case. */
  get factories(): ReadonlySet<Hex> {
    return new Set(this.eip6492Factories.map(lowerHex));
  }

  problemsOfEntries(): string[] {
    return [
      ...this.facilitatorAssets.flatMap((text) =>
        parseAsset(text) ? [] : [`FACILITATOR_ASSETS: "${text}" is not address:name:version.`],
      ),
      ...this.eip6492Factories.flatMap((text) =>
        isAddress(text) ? [] : [`EIP6492_FACTORIES: "${text}" is not 0x and 40 hexadecimal digits.`],
      ),
    ];
  }
}

/** The name may contain colons, the version may not. */
function parseAsset(text: string): SignedAsset | null {
  const [, asset, name, version] = /^(0x[0-9a-f]{40}):(.{1,64}):([^:]{1,32})$/i.exec(text) ?? [];
  if (asset === undefined || name === undefined || version === undefined) return null;
  return { asset: lowerHex(asset), name, version };
}

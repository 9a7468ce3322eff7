import { AssetEnvironment, Setting } from '@tollgate/common';
import { isAddress, type Hex } from '@tollgate/protocol';
import { IsArray } from 'class-validator';

/** What may be paid by signature, and by whose wallets. */
export class SignedPaymentsEnvironment extends AssetEnvironment {
  @Setting({
    help:
      'Factories that may be called to deploy the wallet a payment is signed by (EIP-6492), comma separated addresses; ' +
      'each is called by MULTICALL3_ADDRESS, within SETTLE_GAS_CAP, for which a deployment asks far more than 300000.',
    example: '0xBA5ED110eFDBa3D005bfC882d75358ACBbB85842',
  })
  @IsArray()
  readonly eip6492Factories: string[] = [];

  /** In lower case. */
  get factories(): ReadonlySet<Hex> {
    return new Set(this.eip6492Factories.map((address) => address.toLowerCase() as Hex));
  }

  override problemsOfEntries(): string[] {
    return [
      ...super.problemsOfEntries(),
      ...this.eip6492Factories.flatMap((text) =>
        isAddress(text) ? [] : [`EIP6492_FACTORIES: "${text}" is not 0x and 40 hexadecimal digits.`],
      ),
    ];
  }
}

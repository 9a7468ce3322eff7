import type { Hex } from '@tollgate/protocol';

/** Sums of what may still be taken from each payer in each token, in base units. */
export class ExposureCounter {
  readonly #sums = new Map<string, bigint>();

  /** The key of a payer's sum in one token. */
  static keyOf({ asset, payer }: { asset: Hex; payer: Hex }): string {
    return `${asset} ${payer}`;
  }

  read(key: string): bigint {
    return this.#sums.get(key) ?? 0n;
  }

  /** A negative amount is taken off. */
  add(key: string, amountBaseUnits: bigint): void {
    const sum = this.read(key) + amountBaseUnits;
    if (sum === 0n) this.#sums.delete(key);
    else this.#sums.set(key, sum);
  }
}

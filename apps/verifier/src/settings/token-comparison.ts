import { Logger, type OnApplicationShutdown } from '@nestjs/common';
import { type ChainReader, ChainUnavailableError } from '@tollgate/chain';
import { VARIABLE_NAMES, type OptionNames, type PaymentOption } from '@tollgate/config';
import { listSignedMethods, type Hex } from '@tollgate/protocol';
import { ASSET_DECIMALS_DIFFER, ASSET_DECIMALS_UNKNOWN, type OptionUnready } from '@tollgate/transport';
import { verificationMethods, type AcceptedAssets, type MisnamedToken } from '@tollgate/verification';

import { optionLabelOf } from '../metrics/verifier-metrics.js';

export interface TokenComparisonOptions {
  /** Addresses in lower case. */
  readonly options: readonly PaymentOption[];
  readonly nameOption: (option: PaymentOption) => OptionNames;
  readonly assets: AcceptedAssets;
  readonly chain: Pick<ChainReader, 'readDecimals' | 'readTokenDomain'>;
  /** Returns the time of Redis's clock. */
  readonly nowMs: () => number;
}

const ANSWERS_WITHIN_MS = 5_000;
/** While the chain has not told all, and afterwards: a token can be replaced behind its proxy, which shows within a minute. */
const [SOON_MS, AGAIN_MS] = [1_000, 60_000 - ANSWERS_WITHIN_MS];
const MOST_SHOWN = 64;
const RETRY_AFTER_MS = 10_000;

/**
 * Compares the tokens with the settings: with other decimals a price is wrong by powers of ten, so that nothing is judged
 * or settled in that token; under another EIP-712 domain every EIP-3009 signature is invalid.
 */
export class TokenComparison implements OnApplicationShutdown {
  readonly #logger = new Logger('Settings');
  /** One option for each token: several recipients of it are options of their own. */
  readonly #tokens: readonly PaymentOption[];
  /** As the tokens told last, by address; null for a token without `decimals()`, which counts as equal. */
  readonly #decimals = new Map<Hex, bigint | null>();
  #misnamed: readonly MisnamedToken[] | null = null;
  readonly #logged = { unready: new Map<Hex, string>(), misnamed: '' };
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor(private readonly options: TokenComparisonOptions) {
    this.#tokens = [...new Map(options.options.map((option) => [option.asset, option])).values()];
  }

  /** Compares now, and from then on every minute; without the chain, as soon as it is there. */
  async start(): Promise<void> {
    await this.compare();
    this.#compareLater();
  }

  /** Compares now. Resolves when the chain has told, or has failed to. */
  async compare(): Promise<void> {
    await this.#read();
    this.#log();
  }

  onApplicationShutdown(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }

  /** The answer to a question about an option whose token has other decimals, or has not told them; else null. */
  findFault(option: PaymentOption): OptionUnready | null {
    if (!this.#decimals.has(option.asset))
      return { outcome: 'unavailable', reason: ASSET_DECIMALS_UNKNOWN, retryAfterMs: SOON_MS };
    if (this.#otherDecimalsOf(option) === null) return null;
    return { outcome: 'unavailable', reason: ASSET_DECIMALS_DIFFER, retryAfterMs: RETRY_AFTER_MS };
  }

  /** Whether EIP-3009 authorizations of the option's token can be paid; undefined until the chain has told. */
  takesAuthorizations({ asset }: PaymentOption): boolean | undefined {
    return this.#misnamed === null ? undefined : !this.options.assets.isMisnamed(asset);
  }

  /** @throws Error while no option can be judged */
  assertReady(): void {
    if (this.readiness.some(({ isReady }) => isReady)) return;
    throw new Error(this.unready.join(' ') || 'no token has told its decimals yet');
  }

  /** For each token, by the name that its options have in common: whether payments in it are judged. */
  get readiness(): { option: string; isReady: boolean }[] {
    return this.#tokens.map((token) => ({ option: optionLabelOf(token), isReady: this.findFault(token) === null }));
  }

  /** For the body of the readiness: one sentence for each token that nothing is judged in, with its option. */
  get unready(): string[] {
    return this.#tokens.flatMap((token) => this.#describeUnready(token) ?? []);
  }

  /** For the body of the readiness: one sentence for each token that is named wrongly. */
  get misnamed(): string[] {
    const { nameOption } = this.options;
    return (this.#misnamed ?? []).flatMap((token) => {
      const option = this.#tokens.find(({ asset }) => asset === token.asset);
      if (option?.methods?.some(isOfTokenDomain) === false) return [];
      return describeMisnamed(token, option === undefined ? VARIABLE_NAMES : nameOption(option));
    });
  }

  async #read(): Promise<void> {
    const { assets, chain, nowMs } = this.options;
    const deadlineMs = nowMs() + ANSWERS_WITHIN_MS;
    const compareDomains = async (): Promise<void> => void (this.#misnamed = await assets.compare(chain, deadlineMs));
    const readDecimals = async ({ asset }: PaymentOption): Promise<void> =>
      void this.#decimals.set(asset, await chain.readDecimals(asset, deadlineMs));
    const read = await Promise.allSettled([compareDomains(), ...this.#tokens.map(readDecimals)]);
    for (const one of read)
      if (one.status === 'rejected' && !(one.reason instanceof ChainUnavailableError)) this.#logger.error(one.reason);
  }

  #compareLater(): void {
    if (this.#isStopped) return;
    const isTold = this.#misnamed !== null && this.#tokens.every(({ asset }) => this.#decimals.has(asset));
    const again = (): void => void this.compare().finally(() => this.#compareLater());
    this.#timer = setTimeout(again, isTold ? AGAIN_MS : SOON_MS).unref();
  }

  /** Null where they are equal, or not known to differ. */
  #otherDecimalsOf({ asset, decimals }: PaymentOption): bigint | null {
    const told = this.#decimals.get(asset) ?? null;
    return told === BigInt(decimals) ? null : told;
  }

  #describeUnready(option: PaymentOption): string | null {
    const told = this.#otherDecimalsOf(option);
    if (told === null) return null;
    const { option: name, decimals } = this.options.nameOption(option);
    return `${name === null ? '' : `${name}: `}${ASSET_DECIMALS_DIFFER}: ${decimals} is ${option.decimals}, but the token at ${option.asset} has ${told}. Set it to ${told} for gateways and verifiers.`;
  }

  /** One line for each change. */
  #log(): void {
    const { unready } = this.#logged;
    for (const option of this.#tokens) {
      const fault = this.#describeUnready(option);
      const known = unready.get(option.asset) ?? null;
      if (fault === known) continue;
      if (fault === null) {
        unready.delete(option.asset);
        this.#logger.log(`questions about ${option.asset} are answered again: its decimals are the configured ones`);
      } else {
        unready.set(option.asset, fault);
        this.#logger.error(`no question about ${option.asset} is answered, and nothing settled in it: ${fault}`);
      }
    }
    const misnamed = this.misnamed.join(' ');
    if (misnamed !== '' && misnamed !== this.#logged.misnamed)
      this.#logger.error(`no EIP-3009 authorization is taken for ${misnamed}`);
    this.#logged.misnamed = misnamed;
  }
}

/** Whether its payers sign under the token's domain. */
function isOfTokenDomain(transferMethod: string): boolean {
  const method = listSignedMethods().find((one) => one.transferMethod === transferMethod);
  return method !== undefined && verificationMethods.of(method).isOfTokenDomain;
}

function describeMisnamed({ asset, name, version, stated }: MisnamedToken, { domain }: OptionNames): string {
  const own = stated === null ? 'another one' : nameDomain(stated.name, stated.version);
  return `${asset}: the settings (${domain}) name its EIP-712 domain ${nameDomain(name, version)}, and its contract ${own}. Set what the contract says for gateways and verifiers.`;
}

/** Quoted, since a contract may state any text. */
function nameDomain(name: string, version: string): string {
  return `${JSON.stringify(name.slice(0, MOST_SHOWN))} version ${JSON.stringify(version.slice(0, MOST_SHOWN))}`;
}

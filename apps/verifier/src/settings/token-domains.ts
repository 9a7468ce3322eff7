import { Logger, type OnApplicationShutdown } from '@nestjs/common';
import { type ChainReader, ChainUnavailableError } from '@tollgate/chain';
import type { Hex } from '@tollgate/protocol';
import type { AcceptedAssets, MisnamedToken } from '@tollgate/verification';

export interface TokenDomainsOptions {
  /** ASSET_ADDRESS, in lower case. */
  readonly asset: Hex;
  readonly assets: AcceptedAssets;
  readonly chain: Pick<ChainReader, 'readTokenDomain'>;
  /** Returns the time of Redis's clock. */
  readonly nowMs: () => number;
}

const ANSWERS_WITHIN_MS = 5_000;
/** While the chain has told nothing, and afterwards: a token can be replaced behind its proxy. */
const [SOON_MS, AGAIN_MS] = [1_000, 60_000];
const MOST_SHOWN = 64;

/** Compares ASSET_NAME, ASSET_VERSION and FACILITATOR_ASSETS with the tokens: a wrong one makes every signature invalid. */
export class TokenDomains implements OnApplicationShutdown {
  readonly #logger = new Logger('Settings');
  #misnamed: readonly MisnamedToken[] | null = null;
  #told = '';
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor(private readonly options: TokenDomainsOptions) {}

  /** Compares now, and from then on once a minute. Resolves when the chain has told, or has failed to. */
  async start(): Promise<void> {
    await this.#compare();
    if (this.#isStopped) return;
    this.#timer = setTimeout(() => void this.start(), this.#misnamed === null ? SOON_MS : AGAIN_MS).unref();
  }

  onApplicationShutdown(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }

  /** Whether EIP-3009 authorizations of the seller's token can be paid; undefined until the chain has told. */
  get takesAuthorizations(): boolean | undefined {
    return this.#misnamed === null ? undefined : !this.options.assets.isMisnamed(this.options.asset);
  }

  /** For the body of the readiness: one sentence for each token that is named wrongly. */
  get faults(): string[] {
    return (this.#misnamed ?? []).map(describe);
  }

  async #compare(): Promise<void> {
    const { assets, chain, nowMs } = this.options;
    try {
      this.#misnamed = await assets.compare(chain, nowMs() + ANSWERS_WITHIN_MS);
    } catch (error) {
      if (!(error instanceof ChainUnavailableError)) this.#logger.error(error);
      return;
    }
    const faults = this.faults.join(' ');
    if (faults !== '' && faults !== this.#told) this.#logger.error(`no EIP-3009 authorization is taken for ${faults}`);
    this.#told = faults;
  }
}

function describe({ asset, name, version, stated }: MisnamedToken): string {
  const own = stated === null ? 'another one' : nameDomain(stated.name, stated.version);
  return `${asset}: the settings (ASSET_NAME, ASSET_VERSION, FACILITATOR_ASSETS) name its EIP-712 domain ${nameDomain(name, version)}, and its contract ${own}. Set what the contract says for gateways and verifiers.`;
}

/** Quoted, since a contract may state any text. */
function nameDomain(name: string, version: string): string {
  return `${JSON.stringify(name.slice(0, MOST_SHOWN))} version ${JSON.stringify(version.slice(0, MOST_SHOWN))}`;
}

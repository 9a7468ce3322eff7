import { Setting, type ChecksTogether } from '@tollgate/config';
import { isLoopbackHost } from '@tollgate/http';
import { IsBoolean, IsNotEmpty, IsOptional, IsUrl, Matches } from 'class-validator';

const URL_OPTIONS = { protocols: ['http', 'https'], require_protocol: true, require_tld: false };

/** The pages for people: what they are called, and what a wallet must know of the chain. */
export class PagesEnvironment implements ChecksTogether {
  @Setting({ help: 'Serve pages for people: the pay page at every priced GET route, and the front page.' })
  @IsBoolean()
  readonly pages: boolean = true;

  @Setting({ help: 'Name of the seller on the pages.' })
  @Matches(/^[^\p{Cc}]{1,60}$/u, { message: '$property must be 1 to 60 characters without control characters' })
  readonly brandName: string = 'Tollgate';

  @Setting({
    help: 'Local file with the logo on the pages: PNG, JPEG, WebP or SVG, at most 100 KB.',
    example: 'logo.svg',
  })
  @IsOptional()
  @IsNotEmpty()
  readonly brandLogo?: string;

  @Setting({ help: 'Name of the chain on the pages and in wallets, if it differs from NETWORK.', example: 'Sei' })
  @IsOptional()
  @Matches(/^[ -~]{1,60}$/, { message: '$property must be 1 to 60 visible characters' })
  readonly chainName?: string;

  @Setting({ help: "Symbol of the chain's native coin, for wallets that do not know the chain." })
  @Matches(/^[A-Za-z0-9]{2,6}$/, { message: '$property must be 2 to 6 letters or digits' })
  readonly nativeSymbol: string = 'ETH';

  @Setting({
    help: 'Public RPC server that wallets may add with the chain. Anyone can read it: not one with a key in it.',
    example: 'https://rpc.example',
  })
  @IsOptional()
  @IsUrl(URL_OPTIONS)
  readonly walletRpcUrl?: string;

  @Setting({
    help: 'JavaScript file of a wallet that signs without asking. npm run dev sets it; never set it yourself.',
  })
  @IsOptional()
  @IsNotEmpty()
  readonly testWallet?: string;

  problemsTogether(): string[] {
    const url = this.walletRpcUrl === undefined ? null : new URL(this.walletRpcUrl);
    if (url !== null && (url.username !== '' || url.password !== '')) {
      return ['WALLET_RPC_URL holds a user name or a password, and every visitor can read it. Name a public server.'];
    }
    if (this.testWallet === undefined) return [];
    if (url === null)
      return [
        'TEST_WALLET needs WALLET_RPC_URL (with PAYMENTS_FILE the walletRpc of its first chain), the local anvil that it pays on.',
      ];
    if (isLoopbackHost(url.hostname)) return [];
    return ['TEST_WALLET is for a local anvil: WALLET_RPC_URL must be on a loopback address.'];
  }
}

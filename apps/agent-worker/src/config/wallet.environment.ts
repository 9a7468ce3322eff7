import { Setting, type ChecksTogether } from '@tollgate/config';
import { IsOptional } from 'class-validator';

import { onChain, openWallets } from '../wallets/open-wallets.js';
import type { WorkerWallet } from '../wallets/worker-wallet.js';

/** The wallets that this worker signs for. */
export class WalletEnvironment implements ChecksTogether {
  @Setting({
    secret: true,
    help: 'Private key of the wallet `main`, in hexadecimal.',
  })
  @IsOptional()
  readonly walletPrivateKey?: string;

  @Setting({
    help:
      'JSON file with the policy of the wallet of WALLET_PRIVATE_KEY: operations, recipients, contracts, maxPerOperation, maxPerDay, ' +
      'maxSlippageBps. Amounts and recipients do not limit borrowing, redeeming and perps: list the allowed operations.',
    example: 'policy.json',
  })
  @IsOptional()
  readonly policyFile?: string;

  @Setting({
    help: 'YAML or JSON file of named wallets, each with key, policy and the amounts that need an approval.',
    example: 'wallets.yaml',
  })
  @IsOptional()
  readonly walletsFile?: string;

  #opened: ReturnType<typeof openWallets> = [];

  /** Opens the files now, so that their problems are reported together with all others. */
  problemsTogether(): string[] {
    const problems: string[] = [];
    this.#opened = openWallets(this, problems);
    return problems;
  }

  walletsOn(chainId: number): WorkerWallet[] {
    return onChain(this.#opened, chainId);
  }
}

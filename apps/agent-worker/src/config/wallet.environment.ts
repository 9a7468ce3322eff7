import { Setting, type ChecksTogether } from '@tollgate/common';
import { IsOptional } from 'class-validator';

import { onChain, openWallets } from '../wallets/open-wallets.js';
import type { WorkerWallet } from '../wallets/worker-wallet.js';

/** The wallets that this worker signs for. */
export class WalletEnvironment implements ChecksTogether {
  @Setting({
    secret: true,
    help: 'Private key of the wallet `main`: 32 bytes in hexadecimal. Or name encrypted keystores in WALLETS_FILE.',
  })
  @IsOptional()
  readonly walletPrivateKey?: string;

  @Setting({
    help: 'JSON file with what the wallet of WALLET_PRIVATE_KEY may spend: operations, recipients, contracts, maxPerOperation, maxPerDay, maxSlippageBps.',
    example: 'policy.json',
  })
  @IsOptional()
  readonly policyFile?: string;

  @Setting({
    help: 'YAML or JSON file of named wallets, each with its key, its policy and the amounts above which a person has to agree.',
    example: 'wallets.yaml',
  })
  @IsOptional()
  readonly walletsFile?: string;

  #opened: ReturnType<typeof openWallets> = [];

  /** Opens the files, so that what is wrong with them is told together with everything else. */
  problemsTogether(): string[] {
    const problems: string[] = [];
    this.#opened = openWallets(this, problems);
    return problems;
  }

  walletsOn(chainId: number): WorkerWallet[] {
    return onChain(this.#opened, chainId);
  }
}

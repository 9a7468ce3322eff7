import { IsOptional } from 'class-validator';

import { Setting } from '../setting.js';
import type { Payments } from './payments.js';

/** Chain and token by their names, for every process that needs one of the settings that it stands for. */
export class PaymentsFileEnvironment {
  @Setting({
    help:
      'YAML or JSON file of the chains and tokens that payments are made in. It stands for NETWORK, CHAIN_ID, ASSET_*, PAY_TO, CONFIRMATIONS, ' +
      'EXPLORER_URL, CHAIN_NAME, NATIVE_SYMBOL, WALLET_RPC_URL, RPC_URL, RECONCILE_RPC_URL, RELAYER_PRIVATE_KEYS and FACILITATOR_ASSETS. The same ' +
      'file for every process.',
    example: 'payments.yaml',
  })
  @IsOptional()
  readonly paymentsFile?: string;

  /** What that file says; null without one. */
  payments: Payments | null = null;
}

/** For a process that serves one chain of `PAYMENTS_FILE`. */
export class OwnChainEnvironment {
  @Setting({
    name: 'CHAIN',
    help: 'The chain of PAYMENTS_FILE that this process serves; without it, that of the first option.',
    example: 'base',
  })
  @IsOptional()
  readonly ownChain?: string;
}

import { Inject } from '@nestjs/common';

import { OperatorWallets } from '../wallets/operator-wallets.js';
import { OperatorController, Serve, type Operator } from './operator-controller.js';

const DEFAULT_REASON = 'An operator has paused the account.';

@OperatorController()
export class WalletsController {
  constructor(@Inject(OperatorWallets) private readonly wallets: OperatorWallets) {}

  @Serve('GET /operator/wallets')
  async list() {
    return { wallets: await this.wallets.list() };
  }

  @Serve('POST /operator/wallets/:name/pause')
  pauseWallet({ name, body }: Operator<'POST /operator/wallets/:name/pause'>) {
    return this.wallets.pauseWallet(name, body?.reason ?? DEFAULT_REASON);
  }

  @Serve('POST /operator/wallets/:name/resume')
  resumeWallet({ name }: Operator<'POST /operator/wallets/:name/resume'>) {
    return this.wallets.resumeWallet(name);
  }

  @Serve('POST /operator/wallets/:name/fill')
  fillNonce({ caller, name, body }: Operator<'POST /operator/wallets/:name/fill'>) {
    const { nonce, dryRun: isDry = false } = body;
    return this.wallets.fillNonce(caller.id, name, { nonce, isDry });
  }

  @Serve('POST /operator/relayers/:address/pause')
  pauseRelayer({ address, body }: Operator<'POST /operator/relayers/:address/pause'>) {
    return this.wallets.pauseRelayer(address, body?.reason ?? DEFAULT_REASON);
  }

  @Serve('POST /operator/relayers/:address/resume')
  resumeRelayer({ address }: Operator<'POST /operator/relayers/:address/resume'>) {
    return this.wallets.resumeRelayer(address);
  }
}

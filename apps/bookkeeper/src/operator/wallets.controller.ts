import { Body, Get, HttpCode, Inject, Param, Post } from '@nestjs/common';
import { onlyFields, type ApiKey } from '@tollgate/http';
import { z } from 'zod';

import { OperatorWallets, type OperatorFill, type OperatorWallet } from '../wallets/operator-wallets.js';
import { ForOperators, OperatorController, OperatorKey } from './operator-controller.js';

const REASON = 'must be 1 to 200 characters';

const pause = onlyFields({
  reason: z.string(REASON).min(1, REASON).max(200, REASON).optional(),
}).optional();

const fill = onlyFields({
  nonce: z.int().nonnegative().describe('The nonce of the `gap` that `GET /operator/wallets` shows.'),
  dryRun: z.boolean().optional().describe('Only says what a fill would cancel.'),
});

type Pause = z.output<typeof pause>;

const DEFAULT_REASON = 'An operator has paused the account.';

@OperatorController()
export class WalletsController {
  constructor(@Inject(OperatorWallets) private readonly wallets: OperatorWallets) {}

  @Get('wallets')
  @ForOperators('operator:read', 'The wallets of agent jobs and the relayers: balance, nonce, in flight, limits')
  async list(): Promise<{ wallets: OperatorWallet[] }> {
    return { wallets: await this.wallets.list() };
  }

  @Post('wallets/:name/pause')
  @HttpCode(200)
  @ForOperators('operator:wallets', 'Begins no new transaction; those in flight continue', 'wallet.pause')
  pauseWallet(@Param('name') name: string, @Body({ schema: pause }) body: Pause): Promise<OperatorWallet> {
    return this.wallets.pauseWallet(name, body?.reason ?? DEFAULT_REASON);
  }

  @Post('wallets/:name/resume')
  @HttpCode(200)
  @ForOperators('operator:wallets', 'Ends a pause', 'wallet.resume')
  resumeWallet(@Param('name') name: string): Promise<OperatorWallet> {
    return this.wallets.resumeWallet(name);
  }

  @Post('wallets/:name/fill')
  @HttpCode(200)
  @ForOperators(
    'operator:wallets',
    'Uses the nonce that a wallet waits for and nothing uses, by a transfer of 0 to itself; cancels what had it',
    'wallet.fill',
  )
  fillNonce(
    @OperatorKey() caller: ApiKey,
    @Param('name') name: string,
    @Body({ schema: fill }) { nonce, dryRun = false }: z.output<typeof fill>,
  ): Promise<OperatorFill> {
    return this.wallets.fillNonce(caller.id, name, { nonce, isDry: dryRun });
  }

  @Post('relayers/:address/pause')
  @HttpCode(200)
  @ForOperators(
    'operator:wallets',
    'Settles nothing new with this relayer; what is in flight continues',
    'relayer.pause',
  )
  pauseRelayer(@Param('address') address: string, @Body({ schema: pause }) body: Pause): Promise<OperatorWallet> {
    return this.wallets.pauseRelayer(address, body?.reason ?? DEFAULT_REASON);
  }

  @Post('relayers/:address/resume')
  @HttpCode(200)
  @ForOperators('operator:wallets', 'Ends a pause', 'relayer.resume')
  resumeRelayer(@Param('address') address: string): Promise<OperatorWallet> {
    return this.wallets.resumeRelayer(address);
  }
}

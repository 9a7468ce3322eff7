import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';

import { BookkeeperEnvironment } from '../config/bookkeeper.config.js';
import { SellerChain } from './seller-chain.js';

/** The chains on which the seller is paid, each with connections of its own: one that is down holds up no other. */
@Injectable()
export class SellerChains implements OnApplicationShutdown {
  /** In the order of the options. */
  readonly all: readonly SellerChain[];

  constructor(@Inject(BookkeeperEnvironment) { chains, chain: { rpcTimeoutMs } }: BookkeeperEnvironment) {
    this.all = chains.map((chain) => new SellerChain(chain, rpcTimeoutMs));
  }

  /** @throws Error for a chain on which the seller is not paid */
  of(chainId: number): SellerChain {
    const chain = this.find(chainId);
    if (chain === undefined) throw new Error(`the seller is not paid on chain ${chainId}`);
    return chain;
  }

  /** Undefined for a chain on which the seller is not paid. */
  find(chainId: number): SellerChain | undefined {
    return this.all.find((chain) => chain.chainId === chainId);
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.all(this.all.map((chain) => chain.close()));
  }
}

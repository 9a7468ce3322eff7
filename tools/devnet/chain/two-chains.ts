import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { keepParts } from '../processes/keep-parts.js';
import { startChain, type ChainOptions, type Devnet } from './chain.js';
import { writePaymentsFile } from './payments-file.js';

export const FIRST_CHAIN_ID = 1328;
export const SECOND_CHAIN_ID = 84532;

/** Two chains with the same accounts, and the same contracts at the same addresses. */
export interface TwoChains {
  first: Devnet;
  second: Devnet;
  /** Sells for three tokens: see `writePaymentsFile`. */
  paymentsFile: string;
  stop(): Promise<void>;
}

/** Starts both, with their payments file in a folder that ends with them. */
export async function startTwoChains(options: Pick<ChainOptions, 'blockTimeSeconds'> = {}): Promise<TwoChains> {
  const { keep, stop } = keepParts();
  try {
    const first = keep(await startChain({ ...options, chainId: FIRST_CHAIN_ID }));
    const second = keep(await startChain({ ...options, chainId: SECOND_CHAIN_ID }));
    const folder = mkdtempSync(join(tmpdir(), 'tollgate-payments-'));
    keep({ stop: () => Promise.resolve(rmSync(folder, { recursive: true, force: true })) });
    const paymentsFile = join(folder, 'payments.yaml');
    writePaymentsFile(paymentsFile, { first, second });
    return { first, second, paymentsFile, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

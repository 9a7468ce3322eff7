import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import type { Hex } from 'viem';

import type { DevnetContracts } from '../../packages/agent-kit/src/registry/devnet-contracts.js';
import { claimPidFile } from '../../scripts/process-identity.mjs';
import type { DevnetAccount } from './chain/chain.js';
import { stateDirectory } from './processes/repository.js';

/** The content of `dev.json`, from which other programs learn of a running devnet. */
export interface DevState {
  baseUrl: string;
  rpcUrl: string;
  redisUrl: string;
  chainId: number;
  network: string;
  asset: Hex;
  payTo: Hex;
  explorerUrl: string;
  accounts: DevnetAccount[];
  /** For agent jobs: the wallet's name and account, and an API key that may use it. */
  agent: { wallet: string; address: Hex; apiKey: string };
  /** The operator API of the book, and an API key for it. */
  operator: { url: string; apiKey: string };
  /** The protocols' addresses. */
  contracts: DevnetContracts;
  /** With two chains: the other one, with the same accounts and recipient. */
  secondChain?: { rpcUrl: string; chainId: number; network: string; asset: Hex; plainToken: Hex; explorerUrl: string };
}

export interface DevFolder {
  path: string;
  /** Where dev.json will be. */
  stateFile: string;
  /** Where the payments file of two chains is. */
  paymentsFile: string;
  /** False when another `npm run dev` has the usual folder. */
  isUsual: boolean;
  /** The secret that signs challenges here, the same at each start. */
  challengeSecret: string;
  /** The secret of agent jobs here, the same at each start. */
  agentSecret: string;
  /** The key that signs the closings of the book here, the same at each start. */
  bookSigningKey: string;
  publish(state: DevState): void;
  release(): void;
}

/** Takes the state folder for this process; while another one runs there, a folder `dev-2`, `dev-3`… inside it. */
export function claimDevFolder(): DevFolder {
  for (let number = 1; ; number++) {
    const path = number === 1 ? stateDirectory() : join(stateDirectory(), `dev-${number}`);
    mkdirSync(path, { recursive: true });
    const pidFile = join(path, 'dev.pid');
    if (!claimPidFile(pidFile)) continue;
    const stateFile = join(path, 'dev.json');
    // Left by a process that was killed.
    rmSync(stateFile, { force: true });
    return {
      path,
      stateFile,
      paymentsFile: join(path, 'payments.yaml'),
      isUsual: number === 1,
      challengeSecret: readOrCreateSecret(join(path, 'challenge-secret')),
      agentSecret: readOrCreateSecret(join(path, 'agent-secret')),
      bookSigningKey: readOrCreateSecret(join(path, 'book-signing-key')),
      publish: (state) => {
        const draft = `${stateFile}.${process.pid}`;
        writeFileSync(draft, `${JSON.stringify(state, null, 2)}\n`, { mode: 0o600 });
        renameSync(draft, stateFile);
      },
      release: () => {
        rmSync(stateFile, { force: true });
        rmSync(pidFile, { force: true });
      },
    };
  }
}

function readOrCreateSecret(path: string): string {
  if (!existsSync(path)) writeFileSync(path, randomBytes(32).toString('hex'), { mode: 0o600 });
  return readFileSync(path, 'utf8').trim();
}

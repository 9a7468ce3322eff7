import { createInterface } from 'node:readline';

import type { Hex } from 'viem';

import { AgentKit } from '../../../packages/agent-kit/src/agent-kit.js';
import type { PollLimits } from '../../../packages/client/src/account/read-at-block.js';

/** A program with a key: each line of its input is a transfer, and it answers with what the kit made of it. */
export interface Setup {
  rpcUrl: string;
  privateKey: Hex;
  patience: PollLimits;
}

export interface Transfer {
  amount: string;
  to: Hex;
}

/** `refused`: the kit threw, which says that nothing was sent. */
export interface Sent {
  status: 'success' | 'failed' | 'timeout' | 'signed' | 'refused';
  result?: Hex | undefined;
  error?: string | undefined;
}

export function createSender({ rpcUrl, privateKey, patience }: Setup): (transfer: Transfer) => Promise<Sent> {
  const kit = new AgentKit(privateKey, 'offline', { rpcUrl, networkRetryDelayMs: 0, monitor: patience });
  return async ({ amount, to }) => {
    try {
      const { status, result, error } = await kit.run('transfer', { amount, to });
      return { status, result, error };
    } catch (error) {
      return { status: 'refused', error: String(error) };
    }
  };
}

const { SETUP: setup } = process.env;
if (setup !== undefined) {
  const send = createSender(JSON.parse(setup) as Setup);
  process.stdout.write('ready\n');
  createInterface(process.stdin).on('line', (line) => {
    void send(JSON.parse(line) as Transfer).then((sent) => process.stdout.write(`${JSON.stringify(sent)}\n`));
  });
}

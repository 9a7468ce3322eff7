import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

import { bundleProgram } from '../../harness/stack/bundle-program.js';
import type { Sent, Setup, Transfer } from './send-on-demand.js';

export interface SendingProcess {
  send(transfer: Transfer): Promise<Sent>;
  stop(): void;
}

/** Starts a process of its own that sends on demand, one transfer after the other. */
export async function startSendingProcess(setup: Setup): Promise<SendingProcess> {
  const program = await bundleProgram('test/proofs/account/send-on-demand.ts');
  const env = { ...process.env, SETUP: JSON.stringify(setup) };
  const child = spawn(process.execPath, [program], { env, stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const readLine = async () => {
    const { value, done } = await lines.next();
    if (done === true) throw new Error('the sending process has ended');
    return String(value);
  };
  await readLine();
  return {
    send: async (transfer) => {
      child.stdin.write(`${JSON.stringify(transfer)}\n`);
      return JSON.parse(await readLine()) as Sent;
    },
    stop: () => void child.kill(),
  };
}

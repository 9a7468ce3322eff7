import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

import { bundleProgram } from '../../../test/harness/stack/bundle-program.js';
import type { PayingTask } from './pay-task.js';

const run = promisify(execFile);

interface ChildResult {
  signal: string | null;
  stdout: string;
  stderr: string;
}

/** Pays in a process of its own; `env`: what its environment has besides that of this process. */
export async function runPayingChild(task: PayingTask, env: NodeJS.ProcessEnv = {}): Promise<ChildResult> {
  try {
    const program = await bundleProgram('packages/client/test/paying-child.ts');
    const options = { env: { ...process.env, ...env, TASK: JSON.stringify(task) }, maxBuffer: 8 * 1024 * 1024 };
    const { stdout, stderr } = await run(process.execPath, [program], options);
    return { signal: null, stdout, stderr };
  } catch (error) {
    const { signal = null, stdout = '', stderr = '' } = error as Partial<ChildResult>;
    return { signal, stdout, stderr };
  }
}

import { startRig, type Rig, type RigOptions } from './start-rig.js';

/** A rig for all tests of a file; when a test failed, the last lines of every process are printed. */
export function useRig(options: RigOptions = {}): () => Rig {
  let rig: Rig | undefined;
  beforeAll(async () => {
    rig = await startRig(options);
  }, 120_000);
  afterAll(async () => {
    const { hasFailedTest } = globalThis as { hasFailedTest?: boolean };
    if (hasFailedTest && rig)
      process.stderr.write(`\nA test failed. The processes' last lines:\n${rig.stack.logs()}\n`);
    await rig?.stop();
  }, 60_000);
  return () => {
    if (!rig) throw new Error('the rig is there in tests and hooks');
    return rig;
  };
}

import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose_gc');
const collect = runInNewContext('gc') as () => void;

/** Collects all garbage: the second time what finalizers of the first let go. Each takes a worker's large heap half a second. */
export async function collectGarbage(): Promise<void> {
  for (let times = 0; times < 2; times++) {
    collect();
    await sleep(10);
  }
}

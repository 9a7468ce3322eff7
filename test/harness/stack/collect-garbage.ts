import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose_gc');
const collect = runInNewContext('gc') as () => void;

/** Collects all garbage, also that which only finalizers and weak references kept. */
export async function collectGarbage(): Promise<void> {
  for (let times = 0; times < 5; times++) {
    collect();
    await sleep(10);
  }
}

import { PageProblem } from './wallet/chain.js';

/** Only pages over HTTPS, or on this machine, have locks; where the browser blocks a site's data they are refused. */
async function hasLocks(): Promise<boolean> {
  if (!('locks' in navigator)) return false;
  return navigator.locks.query().then(
    () => true,
    () => false,
  );
}

/** Runs the work while no other tab of this browser runs it for the same name. */
export async function runAlone<T>(name: string, work: () => Promise<T>): Promise<T> {
  if (!(await hasLocks())) return work();
  return navigator.locks.request(name, { ifAvailable: true }, (lock) => {
    if (lock === null)
      throw new PageProblem('Another tab of this browser is paying for the same page. Answer your wallet there.');
    return work();
  });
}

/** Runs the work after that of other tabs with the same name. */
export async function runInTurn<T>(name: string, work: () => Promise<T>): Promise<T> {
  return (await hasLocks()) ? navigator.locks.request(name, work) : work();
}

/** Whether a tab of this browser does work with this name. */
export async function isLockHeld(name: string): Promise<boolean> {
  if (!(await hasLocks())) return false;
  const { held = [] } = await navigator.locks.query();
  return held.some((lock) => lock.name === name);
}

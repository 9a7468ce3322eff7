import type { ServiceProcess } from '../../../tools/devnet/processes/service-process.js';

/** Whether this verifier, by its own metrics, is the one that works on the relayer. */
export async function holdsRelayer(verifier: ServiceProcess): Promise<boolean> {
  const metrics = await (await fetch(`${verifier.url}/metrics`)).text();
  return /tollgate_relayer_held\{[^}]*\} 1/.test(metrics);
}

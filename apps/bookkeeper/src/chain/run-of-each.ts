/**
 * Runs the work of each chain, whatever becomes of the others, until the signal is aborted. Where one ends by an error, as when
 * the book is lost, it ends the others and throws that error once they have ended: none uses the book afterwards.
 */
export async function runOfEach<Chain>(
  chains: readonly Chain[],
  work: (chain: Chain, signal: AbortSignal) => Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const failing = new AbortController();
  const ending = AbortSignal.any([signal, failing.signal]);
  const failures: unknown[] = [];
  const run = (chain: Chain): Promise<void> =>
    work(chain, ending).catch((error: unknown) => {
      failures.push(error);
      failing.abort();
    });
  await Promise.all(chains.map(run));
  if (failures.length > 0) throw failures[0];
}

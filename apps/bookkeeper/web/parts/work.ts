import { useState } from 'preact/hooks';

import { toFailure, type RequestFailed } from '../data/api.js';

/** What a button begins: whether it is under way, and why it has failed. */
export function useWork(before: RequestFailed | null = null) {
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState(before);
  const run = async (work: () => Promise<unknown>): Promise<void> => {
    setBusy(true);
    setProblem(null);
    await work().catch((error: unknown) => setProblem(toFailure(error)));
    setBusy(false);
  };
  return { isBusy, problem, run };
}

import { useEffect, useState } from 'preact/hooks';

import { OPERATOR, read, RequestFailed } from './api.js';

/** No path is asked for more often by the clock; the bookkeeper tells of changes once a second at most. */
const LEAST_MS = 2_000;
/** Jobs and accounts change in the journal, of which the book's events say nothing. */
export const JOBS_EVERY_MS = 2_000;
export const ACCOUNTS_EVERY_MS = 5_000;

const listeners = new Set<() => void>();

/** Opens the one event stream of this tab; returns what closes it. `onState` is told whether it is open. */
export function openStream(onState: (isOpen: boolean) => void): () => void {
  const stream = new EventSource(`${OPERATOR}/changes`);
  const tell = (): void => {
    for (const listener of listeners) listener();
  };
  stream.addEventListener('book', tell);
  stream.addEventListener('open', () => {
    onState(true);
    // What changed while it was closed.
    tell();
  });
  stream.addEventListener('error', () => {
    onState(false);
    // The browser opens it again, unless the answer was an error.
    if (stream.readyState === EventSource.CLOSED) void read('/seller').catch(() => undefined);
  });
  return () => stream.close();
}

export interface Live<T> {
  /** The newest answer; null before the first. */
  readonly data: T | null;
  /** Why the newest request failed; the data is then older. */
  readonly problem: RequestFailed | null;
  readonly reload: () => void;
}

/**
 * What a path of the operator API answers, asked for again when the book changes.
 * @param everyMs also by the clock, for what is not in the book
 */
export function useLive<T>(path: string | null, everyMs?: number): Live<T> {
  const [state, setState] = useState<{ path: string | null; data: T | null; problem: RequestFailed | null }>({
    ...{ path, data: null, problem: null },
  });
  const [round, setRound] = useState(0);
  useEffect(() => {
    if (path === null) return undefined;
    const ending = new AbortController();
    let [isAsking, isOutdated] = [false, false];
    const load = async (): Promise<void> => {
      if (document.hidden && isAsking) return;
      if (isAsking) {
        isOutdated = true;
        return;
      }
      isAsking = true;
      try {
        const data = await read<T>(path, ending.signal);
        setState({ path, data, problem: null });
      } catch (problem) {
        if (ending.signal.aborted) return;
        setState((last) => ({ path, data: last.path === path ? last.data : null, problem: toFailure(problem) }));
      }
      isAsking = false;
      if (isOutdated) {
        isOutdated = false;
        await load();
      }
    };
    const look = (): void => void load();
    const lookIfSeen = (): void => {
      if (!document.hidden) look();
    };
    look();
    listeners.add(lookIfSeen);
    document.addEventListener('visibilitychange', lookIfSeen);
    const timer = everyMs === undefined ? undefined : setInterval(lookIfSeen, Math.max(LEAST_MS, everyMs));
    return () => {
      ending.abort();
      listeners.delete(lookIfSeen);
      document.removeEventListener('visibilitychange', lookIfSeen);
      clearInterval(timer);
    };
  }, [path, everyMs, round]);
  const isCurrent = state.path === path;
  return {
    data: isCurrent ? state.data : null,
    problem: isCurrent ? state.problem : null,
    reload: () => setRound((count) => count + 1),
  };
}

function toFailure(problem: unknown): RequestFailed {
  return problem instanceof RequestFailed ? problem : new RequestFailed(0, 'unreadable', 'The answer cannot be read.');
}

import type { AnswerOfRoute, RouteName, SentToRoute } from '@tollgate/operator-api';
import { useEffect, useState } from 'preact/hooks';

import { consoleAddress, askOperator, toFailure, type RequestFailed } from './api.js';

/** No path is asked for more often by the clock; the bookkeeper tells of changes once a second at most. */
const LEAST_MS = 2_000;
/** Jobs and accounts change in the journal, of which the book's events say nothing. */
export const JOBS_EVERY_MS = 2_000;
export const ACCOUNTS_EVERY_MS = 5_000;
/** A refused stream is opened again after this time, twice as long after each further refusal. */
const REOPENED_AFTER_MS = 5_000;
const REOPENED_AT_LEAST_EVERY_MS = 60_000;
/** A path that could not be read for the moment is asked for again, whether or not the book changes. */
const READ_AGAIN_AFTER_MS = 5_000;

const listeners = new Set<() => void>();

/**
 * Opens the event stream of this tab, and opens it again after a refusal. Returns a function that closes it. `onState`
 * receives whether the stream is open.
 */
export function openStream(onState: (isOpen: boolean) => void): () => void {
  let stream: EventSource;
  let timer: ReturnType<typeof setTimeout>;
  let waitMs = REOPENED_AFTER_MS;
  const tell = (): void => {
    for (const listener of listeners) listener();
  };
  const open = (): void => {
    stream = new EventSource(consoleAddress('GET /operator/changes', {}));
    stream.addEventListener('book', tell);
    stream.addEventListener('open', () => {
      waitMs = REOPENED_AFTER_MS;
      onState(true);
      // What changed while it was closed.
      tell();
    });
    stream.addEventListener('error', () => {
      onState(false);
      // A connection that broke is opened again by the browser; one that was answered with an error is not.
      if (stream.readyState !== EventSource.CLOSED) return;
      timer = setTimeout(open, waitMs);
      waitMs = Math.min(2 * waitMs, REOPENED_AT_LEAST_EVERY_MS);
      // The error may be that the session has ended, which a stream does not say.
      void askOperator('GET /operator/seller', {}).catch(() => undefined);
    });
  };
  open();
  return () => {
    clearTimeout(timer);
    stream.close();
  };
}

export interface Live<T> {
  /** The newest answer; null before the first. */
  readonly data: T | null;
  /** Why the newest request failed; the data is then older. */
  readonly problem: RequestFailed | null;
  readonly reload: () => void;
}

/**
 * What a route of the operator API answers, asked for again when the book changes.
 * @param everyMs also by the clock, for what is not in the book
 */
export function useLive<Name extends RouteName>(
  name: Name,
  sent: SentToRoute<Name>,
  everyMs?: number,
): Live<AnswerOfRoute<Name>> {
  type Data = AnswerOfRoute<Name> | null;
  const path = consoleAddress(name, sent);
  const [state, setState] = useState<{ path: string; data: Data; problem: RequestFailed | null }>({
    path,
    data: null,
    problem: null,
  });
  const [round, setRound] = useState(0);
  useEffect(() => {
    const ending = new AbortController();
    let [isAsking, isOutdated] = [false, false];
    let readAgain: ReturnType<typeof setTimeout> | undefined;
    const load = async (): Promise<void> => {
      if (document.hidden && isAsking) return;
      if (isAsking) {
        isOutdated = true;
        return;
      }
      isAsking = true;
      try {
        const data = await askOperator(name, sent, ending.signal);
        setState({ path, data, problem: null });
      } catch (problem) {
        if (ending.signal.aborted) return;
        const failure = toFailure(problem);
        setState((last) => ({ path, data: last.path === path ? last.data : null, problem: failure }));
        clearTimeout(readAgain);
        if (mayPass(failure)) readAgain = setTimeout(lookIfSeen, READ_AGAIN_AFTER_MS);
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
      clearTimeout(readAgain);
    };
  }, [path, everyMs, round]);
  const isCurrent = state.path === path;
  return {
    data: isCurrent ? state.data : null,
    problem: isCurrent ? state.problem : null,
    reload: () => setRound((count) => count + 1),
  };
}

/** Whether the same request may be answered later: it was not, or too many came, or something was down. */
function mayPass({ status }: RequestFailed): boolean {
  return status === 0 || status === 429 || status >= 500;
}

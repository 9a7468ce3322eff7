import type { FoundLog, LogSearch } from './search-logs.js';

const REMEMBERED_MS = 60_000;
/** A server that lags behind the others finds nothing at first. */
const NOTHING_REMEMBERED_MS = 5_000;
const MAX_REMEMBERED = 4096;

/**
 * Log searches for events that happen once and are known to have happened: shared while they run, and cached for a
 * minute, for five seconds if nothing was found. Without the cache, naming a payment of long ago again would cost a client nothing and the RPC server a
 * hundred searches each time.
 */
export class SearchMemory {
  private readonly searches = new Map<string, { untilMs: number; found: Promise<FoundLog[]> }>();

  constructor(private readonly nowMs: () => number) {}

  /**
   * Returns the cached result or runs the search; a search that failed is not cached.
   * @param event identifies the event where the logs themselves do not
   */
  find(search: LogSearch, event: string, run: (search: LogSearch) => Promise<FoundLog[]>): Promise<FoundLog[]> {
    const name = JSON.stringify([search.address, search.topics, event]);
    const known = this.searches.get(name);
    if (known && known.untilMs > this.nowMs()) return known.found;
    const found = run(search);
    const remembered = { untilMs: this.nowMs() + REMEMBERED_MS, found };
    this.searches.delete(name);
    this.searches.set(name, remembered);
    const [oldest] = this.searches.keys();
    if (this.searches.size > MAX_REMEMBERED && oldest !== undefined) this.searches.delete(oldest);
    found.then(
      (logs) => {
        if (logs.length === 0) remembered.untilMs = this.nowMs() + NOTHING_REMEMBERED_MS;
      },
      () => this.searches.delete(name),
    );
    return found;
  }
}

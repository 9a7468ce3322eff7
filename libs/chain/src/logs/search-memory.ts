import type { FoundLog, LogSearch } from './search-logs.js';

const REMEMBERED_MS = 60_000;
const MAX_REMEMBERED = 4096;

/**
 * Log searches for events that happen once and are known to have happened: shared while they run, and cached for a
 * minute. Without the cache, naming a payment of long ago again would cost a client nothing and the RPC server a
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
    this.searches.delete(name);
    this.searches.set(name, { untilMs: this.nowMs() + REMEMBERED_MS, found });
    const [oldest] = this.searches.keys();
    if (this.searches.size > MAX_REMEMBERED && oldest !== undefined) this.searches.delete(oldest);
    found.catch(() => this.searches.delete(name));
    return found;
  }
}

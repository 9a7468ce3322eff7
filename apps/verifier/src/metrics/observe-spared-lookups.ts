import { observeCounts } from '@tollgate/common';
import type { Registry } from 'prom-client';

/** Counts the look-ups that were not needed, by reason. */
export function observeSparedLookups(
  registry: Registry,
  sources: readonly { readonly counts: Readonly<Record<string, number>> }[],
): void {
  observeCounts(registry, 'tollgate_lookups_spared', 'Look-ups that were not needed, by reason.', {
    get counts() {
      return Object.assign({}, ...sources.map(({ counts }) => counts)) as Record<string, number>;
    },
  });
}

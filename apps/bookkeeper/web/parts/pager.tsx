import { useEffect, useState } from 'preact/hooks';

/** The way through a list that the API gives in pages, each with the cursor of the next. */
export interface Paging {
  /** Of the page that is shown; undefined for the first. */
  readonly cursor: string | undefined;
  readonly pages: number;
  readonly show: (cursor: string | null) => void;
}

/** @param search what is listed: another one begins at the first page */
export function usePaging(search: string): Paging {
  const [cursors, setCursors] = useState<readonly string[]>([]);
  useEffect(() => setCursors([]), [search]);
  const show = (cursor: string | null) => setCursors(cursor === null ? [] : [...cursors, cursor]);
  return { cursor: cursors.at(-1), pages: cursors.length + 1, show };
}

/** Leads to the next page and back to the first; nothing where there is one page alone. */
export function Pager({ paging: { pages, show }, next }: { paging: Paging; next: string | null }) {
  if (pages === 1 && next === null) return null;
  const turn = (cursor: string | null): void => {
    show(cursor);
    // The list begins again, and the button may be off from now on: a reader begins at the top.
    document.getElementById('main')?.focus();
  };
  return (
    <div class="buttons">
      <button type="button" disabled={pages === 1} onClick={() => turn(null)}>
        First page
      </button>
      <button type="button" disabled={next === null} onClick={() => next !== null && turn(next)}>
        Next page
      </button>
      <span>Page {pages}</span>
    </div>
  );
}

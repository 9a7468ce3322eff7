import { useEffect, useState } from 'preact/hooks';

/** Where the console is, in the part of the URL that no server sees: `#/payments/<id>?state=refused`. */
export interface ConsolePlace {
  readonly page: string;
  /** What the page shows, such as a payment; null for its list. */
  readonly id: string | null;
  readonly query: URLSearchParams;
}

export function usePlace(): ConsolePlace {
  const [hash, setHash] = useState(location.hash);
  useEffect(() => {
    const follow = (): void => setHash(location.hash);
    addEventListener('hashchange', follow);
    return () => removeEventListener('hashchange', follow);
  }, []);
  return parsePlace(hash);
}

export function linkTo(page: string, id?: string | null, query: Readonly<Record<string, string>> = {}): string {
  const set = Object.entries(query).filter(([, value]) => value !== '');
  const search = set.length === 0 ? '' : `?${new URLSearchParams(set).toString()}`;
  return `#/${page}${id === undefined || id === null ? '' : `/${encodeURIComponent(id)}`}${search}`;
}

export function go(href: string): void {
  location.hash = href;
}

function parsePlace(hash: string): ConsolePlace {
  const [path = '', search = ''] = hash.replace(/^#\/?/, '').split('?');
  const [page = '', ...rest] = path.split('/');
  return {
    page: page === '' ? 'now' : page,
    id: rest.length === 0 ? null : decode(rest.join('/')),
    query: new URLSearchParams(search),
  };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

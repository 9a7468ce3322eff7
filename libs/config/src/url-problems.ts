import { isHttpUrl } from '@tollgate/protocol';

/** The entries of a setting that are no URLs of RPC servers. */
export function findUrlProblems(setting: string, urls: readonly string[]): string[] {
  return urls.flatMap((url, index) =>
    isHttpUrl(url)
      ? []
      : [`${setting}: entry ${index + 1} is not an http:// or https:// URL (its value is not shown).`],
  );
}

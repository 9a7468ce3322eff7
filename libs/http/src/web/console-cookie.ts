/** The cookie of a session at the bookkeeper's console. Cookies have no port: a gateway on the same host gets it too. */
export const CONSOLE_COOKIE = 'tollgate_console';

const OURS = new RegExp(`^\\s*${CONSOLE_COOKIE}\\s*=`);

/** The values of the console's cookie in a `Cookie` header; a foreign page may have set others of the same name. */
export function readConsoleCookies(header: string | undefined): string[] {
  return (header ?? '')
    .split(';')
    .filter((pair) => OURS.test(pair))
    .map((pair) => pair.slice(pair.indexOf('=') + 1).trim());
}

/** A `Cookie` header without the console's cookie; null when nothing is left. */
export function withoutConsoleCookie(header: string): string | null {
  const left = header.split(';').filter((pair) => pair.trim() !== '' && !OURS.test(pair));
  return left.length === 0 ? null : left.join(';').trim();
}

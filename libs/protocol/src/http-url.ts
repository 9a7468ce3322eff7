/** `localhost:4020` is a URL too: of the scheme `localhost`. */
export function isHttpUrl(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}

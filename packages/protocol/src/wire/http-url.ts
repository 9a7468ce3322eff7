/** Whether the text is an http or https URL. `localhost:4020` also parses as a URL, of the scheme `localhost`. */
export function isHttpUrl(text: string): boolean {
  return /^https?:\/\/[^/\\]/i.test(text) && URL.canParse(text);
}

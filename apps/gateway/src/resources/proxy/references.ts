type Publish = (reference: string) => string | null;

// Each matches from where it begins without a second try, or a long header would hold up every request.
/** A quote that is not closed takes the rest. */
const LINK = /<([^<>]*)>((?:"(?:[^"\\]|\\.)*(?:"|\\?$)|[^",<])*)/g;
/** What browsers skip before the URL: all of it may be missing. */
const REFRESH_START = /^[\s\d.]*[;,]?\s*(?:url\s*=\s*)?["']?/i;

/**
 * A header of an upstream that refers to URLs, with those that a client has in their place; null where nothing is left.
 * Any other header is returned as it is.
 * @param name in canonical form
 */
export function publishReferences(name: string, value: string, publish: Publish): string | null {
  switch (name) {
    case 'location':
    case 'content-location':
      return publish(value);
    case 'refresh': {
      const [start = ''] = REFRESH_START.exec(value) ?? [];
      const [quote = ''] = /["']?$/.exec(start) ?? [];
      const [reference = ''] = quote === '' ? [value.slice(start.length)] : value.slice(start.length).split(quote, 1);
      if (reference === '') return value;
      const url = publish(reference);
      return url && start + url + quote;
    }
    case 'link': {
      const links = [...value.matchAll(LINK)].flatMap(([, reference = '', parameters = '']) => {
        const url = publish(reference);
        return url === null ? [] : `<${url}>${parameters.trimEnd()}`;
      });
      return links.length === 0 ? null : links.join(', ');
    }
    default:
      return value;
  }
}

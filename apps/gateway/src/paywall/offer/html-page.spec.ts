import { pageFormOf, prefersHtml } from './html-page.js';

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8';

describe('prefersHtml', () => {
  it.each<[string, Record<string, string>, boolean]>([
    ['a browser', { accept: BROWSER, 'sec-fetch-dest': 'document' }, true],
    ['a browser that does not say what for', { accept: BROWSER }, true],
    ['a frame', { accept: BROWSER, 'sec-fetch-dest': 'iframe' }, false],
    ['a script of a page', { accept: BROWSER, 'sec-fetch-dest': 'empty' }, false],
    ['no Accept', {}, false],
    ['curl and fetch', { accept: '*/*' }, false],
    ['axios', { accept: 'application/json, text/plain, */*' }, false],
    ['an agent that reads pages as well as JSON', { accept: 'text/markdown, text/html, */*' }, false],
    ['JSON as much as HTML', { accept: 'text/html, application/json' }, false],
    ['JSON more than HTML', { accept: 'text/html;q=0.5, application/json;q=0.9' }, false],
    ['HTML more than JSON', { accept: 'application/json;q=0.5, text/html;q=0.9' }, true],
    ['HTML refused', { accept: 'text/html;q=0' }, false],
    ['HTML refused, anything accepted', { accept: 'text/html;q=0, */*' }, false],
    ['the more specific range decides', { accept: '*/*;q=1, application/*;q=0.1, text/html;q=0.5' }, true],
    ['a quality that is no number', { accept: 'text/html;q=high' }, false],
    ['capitals and spaces', { accept: 'Text/HTML ; Q=1 , text/html;q=0.9' }, true],
    ['another type with this beginning', { accept: 'text/html-sandboxed' }, false],
  ])('%s', (_name, headers, expected) => {
    expect(prefersHtml(headers)).toBe(expected);
  });

  it('reads a long hostile header in little time', () => {
    const accept = `text/html,${'a/b;q=1;'.repeat(1000)}`;
    expect(prefersHtml({ accept })).toBe(true);
  });
});

describe('pageFormOf', () => {
  it.each([
    ['a browser', { accept: 'text/html,*/*;q=0.8', 'sec-fetch-dest': 'document' }, 'page'],
    ["a page's script", { accept: 'application/vnd.tollgate.page+json', 'sec-fetch-dest': 'empty' }, 'data'],
    ['a program', { accept: '*/*' }, null],
    ['a program that says nothing', {}, null],
  ])('of %s', (_who, headers, form) => {
    expect(pageFormOf(headers)).toBe(form);
  });
});

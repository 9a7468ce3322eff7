import { isHttpUrl } from './http-url.js';

describe('a URL of http or https', () => {
  it.each(['https://rpc.example/v1', 'HTTP://127.0.0.1:8545', 'https://user:key@rpc.example', 'http://[::1]:1'])(
    '%s',
    (url) => {
      expect(isHttpUrl(url)).toBe(true);
    },
  );

  it.each([
    'https:foo',
    'https:/foo',
    'https:///foo',
    'http:\\\\foo',
    'ws://foo',
    'foo',
    '',
    'https://',
    'https://a b',
  ])('is not %j', (url) => {
    expect(isHttpUrl(url)).toBe(false);
  });
});

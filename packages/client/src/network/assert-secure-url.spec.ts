import { assertSecureUrl } from './assert-secure-url.js';

describe('assertSecureUrl', () => {
  it.each([
    'https://example.com',
    'http://localhost:1',
    'http://a.localhost',
    'http://127.0.0.1',
    'http://127.1.2.3',
    'http://[::1]:1',
    'http://0x7f.1',
  ])('allows payments to %s', (url) => {
    expect(() => assertSecureUrl(url, false)).not.toThrow();
  });

  it.each([
    'http://example.com',
    'http://127.0.0.1.example.com',
    'http://localhost.example.com',
    'http://10.0.0.1',
    'http://[::2]',
    'ftp://localhost',
    'data:,x',
  ])('refuses %s', (url) => {
    expect(() => assertSecureUrl(url, false)).toThrow(expect.objectContaining({ code: 'insecure_url' }));
  });

  it('allows payments over plain HTTP only if the options do', () => {
    expect(() => assertSecureUrl('http://10.0.0.1', true)).not.toThrow();
    expect(() => assertSecureUrl('ftp://10.0.0.1', true)).toThrow();
  });
});

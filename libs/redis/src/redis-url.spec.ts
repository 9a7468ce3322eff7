import { findRedisUrlProblems, parseGroupUrl } from './redis-url.js';

describe('the URL of a Redis', () => {
  it.each([
    'redis://localhost',
    'redis://:pass,word@10.0.0.1:6380/2',
    'rediss://user:password@redis.example:6379?family=6',
    'redis://user:p%23%2F%3F%25@ss@a/1',
    'redis://a/1?password=p@ss',
    'redis+sentinel://a/primary',
    'redis+cluster://user:password@a:6379,b,c/',
    'rediss+sentinel://user:pass%40word@a:26379,b,[::1]:26380/primary?db=2&sentinelPassword=x',
  ])('may be %s', (url) => {
    expect(findRedisUrlProblems(url)).toEqual([]);
  });

  it.each([
    ['http://a', /^must be redis:/],
    ['redis://a b', /^must be redis:/],
    ['redis://a:1,b:2/0', /^names several hosts/],
    ['redis://u:a#b@h', /^cannot be read: .* percent-encode/],
    ['redis://u:a/b@h', /^cannot be read/],
    ['redis://u:a?b@h', /^cannot be read/],
    ['redis://u:a,b/c@h', /^cannot be read/],
    ['redis://u:12/b@h', /^cannot be read/],
    ['redis://u:a@b/c@h', /^cannot be read/],
    ['redis://u:5%off@h', /^cannot be read/],
    ['redis://h:65536', /^cannot be read/],
    ['redis+cluster://a,b/0', /^has more than hosts/],
    ['redis+cluster://a,,b', /^has no valid address at host 2/],
    ['redis+sentinel://a,b', /^does not name the primary/],
    ['redis+sentinel://user@a/primary', /^has a user without a password/],
    ['redis+sentinel://a,/primary', /^has no valid address at host 2/],
    ['redis+sentinel://a:0/primary', /^has no valid port at host 1/],
    ['redis+sentinel://:p/w@a/primary', /^must be redis:|^has no valid/],
    ['redis+sentinel://:%zz@a/primary', /^has a % in the password/],
    ['redis+sentinel://a/primary?db=-1', /^has a parameter db/],
    ['redis+sentinel://a/primary?timeout=1', /^has a parameter other than/],
  ])('may not be %s', (url, problem) => {
    expect(findRedisUrlProblems(url)[0]).toMatch(problem);
  });

  it('is left to the driver when it is that of one server', () => {
    expect(parseGroupUrl('redis://a:6379')).toBeNull();
    expect(parseGroupUrl('localhost:6379')).toBeNull();
  });

  it('names Sentinels, their primary and the credentials', () => {
    expect(
      parseGroupUrl('rediss+sentinel://us%3Aer:p%40:w@a,[::1]:1/primary?db=3&sentinelPassword=x%26'),
    ).toMatchObject({
      kind: 'sentinel',
      address: 'the primary primary of the Sentinels a, [::1]:1',
      options: {
        sentinels: [
          { host: 'a', port: 26379 },
          { host: '::1', port: 1 },
        ],
        name: 'primary',
        db: 3,
        username: 'us:er',
        password: 'p@:w',
        sentinelPassword: 'x&',
        tls: {},
        sentinelTLS: {},
        enableTLSForSentinelMode: true,
      },
    });
  });

  it('is refused with every problem and no part of it', () => {
    const parse = () => parseGroupUrl('redis+sentinel://canary@a:99999,');
    expect(parse).toThrow(/no valid port at host 1, and .* at host 2, and does not name .*, and has a user/);
    expect(parse).not.toThrow('canary');
  });
});

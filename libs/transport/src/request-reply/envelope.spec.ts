import { parseReply } from './envelope.js';

describe('a reply', () => {
  const error = { code: 'overloaded', message: 'later' };

  it.each([
    ['an error whose code only a later release knows', { error }, { error }],
    ['the answer null', { data: null }, { data: null }],
    ['neither answer nor error', {}, null],
    // Prevents: what failed is taken for answered.
    ['an answer beside an error, which wins', { data: { outcome: 'valid' }, error }, { error }],
    ['an answer beside an error that cannot be read', { data: { outcome: 'valid' }, error: null }, null],
  ])('with %s is read as it is meant', (_what, sent, read) => {
    const reply = parseReply(JSON.stringify({ v: 1, id: 'a', ...sent }));
    expect(reply).toEqual(read && { v: 1, id: 'a', ...read });
  });

  it.each(['', '[]', '{"v":2,"id":"a","data":1}', '{"v":1,"data":1}'])('is none of ours as %s', (text) => {
    expect(parseReply(text)).toBeNull();
  });
});

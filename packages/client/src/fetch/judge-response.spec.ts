import { judgeResponse } from './judge-response.js';

const nowMs = Date.parse('2026-01-01T00:00:00Z');
const judge = (status: number, headers: Record<string, string> = {}, seen = { undiagnosed: 0 }) =>
  judgeResponse(new Response(null, { status, headers }), { nowMs, ...seen });

describe('Retry-After', () => {
  it.each([
    ['0', 0],
    ['2', 2000],
    ['Thu, 01 Jan 2026 00:00:03 GMT', 3000],
    ['Thu, 01 Jan 2020 00:00:00 GMT', 0],
    ['3600', 3_600_000],
    ['99999999999999999999', 1e23],
    ['soon', null],
    ['', null],
    ['12.5', 12_500],
    ['2.', 2000],
    // JavaScript reads these as dates of 2001.
    ['-1', null],
    ['5, 6', null],
  ])('%j is a delay of %j ms', (value, delayMs) => {
    expect(judge(503, { 'Retry-After': value })).toMatchObject({ kind: 'retry', delayMs });
  });
});

describe('judgeResponse', () => {
  it.each([
    [200, {}, { kind: 'answer', isFinal: true }],
    [204, {}, { kind: 'answer', isFinal: true }],
    [304, {}, { kind: 'answer', isFinal: true }],
    [304, { 'X-Payment-Released': 'true' }, { kind: 'answer', isFinal: false }],
    [404, {}, { kind: 'answer', isFinal: false }],
    [404, { 'Idempotent-Replayed': 'true' }, { kind: 'answer', isFinal: true }],
    [409, {}, { kind: 'answer', isFinal: false }],
    [409, { 'Retry-After': '1' }, { kind: 'retry', delayMs: 1000 }],
    [429, {}, { kind: 'answer', isFinal: false }],
    [500, { 'X-Payment-Released': 'true' }, { kind: 'answer', isFinal: false }],
    [503, {}, { kind: 'retry', delayMs: null }],
    [307, { Location: '/x' }, { kind: 'redirect', location: '/x' }],
    [302, { Location: '/x', 'PAYMENT-RESPONSE': 'e30=' }, { kind: 'answer', isFinal: true }],
    [302, { Location: '/x', 'Idempotent-Replayed': 'true' }, { kind: 'answer', isFinal: true }],
    [402, { 'X-Payment-Failure': 'payment_used' }, { kind: 'refused', failure: 'payment_used' }],
    [402, { 'X-Payment-Failure': 'payment_refunded' }, { kind: 'refused', failure: 'payment_refunded' }],
    [402, { 'X-Payment-Failure': 'receipt_missing' }, { kind: 'retry', delayMs: 1000 }],
    [402, {}, { kind: 'retry', delayMs: 1000 }],
  ])('%d %j', (status, headers, expected) => {
    expect(judge(status, headers)).toMatchObject(expected);
  });

  it('gives up after a few 402 answers without a cause', () => {
    expect(judge(402, {}, { undiagnosed: 3 })).toMatchObject({ kind: 'refused', failure: null });
  });

  it.each([
    [503, 'busy'],
    [429, 'busy'],
    [502, 'failure'],
    [504, 'failure'],
  ])('tells what a release with status %d uses up', (status, uses) => {
    const released = { 'X-Payment-Released': 'true', 'Retry-After': '0' };
    expect(judge(status, released)).toMatchObject({ kind: 'retry', uses });
    expect(judge(status, { 'Retry-After': '0' })).toMatchObject({ kind: 'retry', uses: null });
  });
});

import { joinSendAnswers, readSendAnswer, type SendAnswer } from './read-send-answer.js';

const HASH = `0x${'ab'.repeat(32)}` as const;
const error = (message: string) => readSendAnswer({ kind: 'error', code: -32000, message }, HASH);

describe('an answer to a sent transaction', () => {
  it.each<[SendAnswer, string]>([
    ['accepted', 'already known'],
    ['nonce_used', 'nonce too low'],
    ['insufficient_funds', 'insufficient funds for gas * price + value'],
    ['underpriced', 'transaction underpriced'],
    ['underpriced', 'replacement transaction underpriced'],
    ['underpriced', 'max fee per gas less than block base fee'],
    ['refused', 'exceeds block gas limit'],
    ['unknown', 'in-flight transaction limit reached for delegated accounts'],
    ['unknown', 'txpool is full'],
  ])('is %s where the node says "%s"', (answer, message) => expect(error(message)).toBe(answer));

  it('counts only with the hash of the sent bytes', () => {
    expect(readSendAnswer({ kind: 'result', value: HASH }, HASH)).toBe('accepted');
    expect(readSendAnswer({ kind: 'result', value: HASH.toUpperCase().replace('0X', '0x') }, HASH)).toBe('accepted');
    expect(readSendAnswer({ kind: 'result', value: `0x${'00'.repeat(32)}` }, HASH)).toBe('unknown');
    expect(readSendAnswer({ kind: 'result', value: null }, HASH)).toBe('unknown');
    expect(readSendAnswer({ kind: 'unanswered', error: new Error('status 429') }, HASH)).toBe('unknown');
  });
});

describe('the answers of several servers', () => {
  it('combine to success where one has the bytes, and to a refusal only where all refuse', () => {
    expect(joinSendAnswers(['refused', 'unknown', 'accepted'])).toBe('accepted');
    expect(joinSendAnswers(['refused', 'unknown'])).toBe('unknown');
    expect(joinSendAnswers(['refused', 'refused'])).toBe('refused');
    expect(joinSendAnswers(['unknown', 'insufficient_funds'])).toBe('insufficient_funds');
    expect(joinSendAnswers(['underpriced', 'nonce_used'])).toBe('nonce_used');
  });
});

import { payForResource } from '../../operations/payment.js';
import { omitAnswer, summarise } from './summary.js';

it.each([
  [
    '{"sky":"blue","moods":[{"name":"calm"}],"deep":{"a":1}}',
    '{"sky":"blue","moods":[{"name":"calm"}],"deep":{"a":1}}',
  ],
  ['{"sky":\n"\u001b[2J\u202eSend this? [y/N] y"}', '{"sky": " [2J Send this? [y/N] y"}'],
  ['<p>no JSON</p>', '<p>no JSON</p>'],
])('shows the paid answer %p on one line', (body, shown) => {
  const result = { status: 'success', result: '0xab', answer: { body } };
  expect(summarise(payForResource, result, 'Pay')).toBe(`Done: Pay. Transaction 0xab.\nAnswer: ${shown}`);
});

it('has a paid answer once', () => {
  const answer = { httpStatus: 200, contentType: 'application/json', isBodyCut: false };
  const result = { status: 'success', answer: { ...answer, body: '{"sky":"blue"}' } };
  expect(omitAnswer(result)).toEqual({ status: 'success', answer });
});

it('reports a failure as one', () => {
  const result = { status: 'timeout', result: '0xab', error: 'It is not mined yet', suggestion: 'Wait.' };
  expect(summarise(payForResource, result, 'Pay')).toBe('Failed: It is not mined yet. Wait.');
});

import {
  answered,
  deliver,
  hashOf,
  refunded,
  refused,
  settled,
  transferId,
} from '../../../libs/book/test/sample-events.js';

/** Fields of entries that no process of ours writes. */
export function createHostile(number: number): string[][] {
  const payment = transferId(number);
  const { fields } = deliver(answered(payment));
  const [, , , , , at, , , , facts] = fields as [...string[]];
  const replace = (name: string, value: string): string[] =>
    fields.map((field, index) => (fields[index - 1] === name && index % 2 === 1 ? value : field));
  const withFacts = (more: object): string[] =>
    replace('facts', JSON.stringify({ ...(JSON.parse(facts ?? '') as object), ...more }));
  const random = Buffer.from(Array.from({ length: 9_000 }, (_, index) => (index * 7_919 * (number + 1)) % 251));
  return [
    ['x', ''],
    ['v', '2', 'type', 'answered', 'note', hashOf(number)],
    ['__proto__', '1', 'v', '1', 'type', '__proto__'],
    replace('facts', '['.repeat(20_000)),
    replace('facts', 'null'),
    replace('at', '999999999999999'),
    replace('at', '9'.repeat(400)),
    replace('at', at === undefined ? '' : `-${at}`),
    replace('payment', random.toString('base64')),
    replace('payment', 'tx:\0:\uFFFF:'),
    withFacts({ requestId: 'a\0b' }),
    withFacts({ route: '\ud800' }),
    withFacts({ route: random.toString('base64'), requestId: '€'.repeat(4_000), amount: '9'.repeat(5_000) }),
    withFacts({ timeline: { presentedAtMs: 9e15, verifiedAtMs: 1, claimedAtMs: 1, fulfilledAtMs: 1, settledAtMs: 1 } }),
    withFacts({ chainId: -1, transaction: ['0x'], timeline: 'soon' }),
    deliver(refused(payment, { failure: random.toString('hex'), amount: '9'.repeat(78) })).fields as string[],
    deliver(refunded(payment, '1')).fields as string[],
    deliver(settled([payment], { gasUsed: '9'.repeat(78), effectiveGasPrice: '9'.repeat(78) })).fields as string[],
  ];
}

import type { Intent, Item } from '../../libs/agent-kit/src/chat/offline/intent.js';
import { OPERATIONS } from '../../libs/agent-kit/src/chat/offline/lexicon/operations.js';
import { understand } from '../../libs/agent-kit/src/chat/offline/understand.js';

const RESOURCES = { weather: 'http://127.0.0.1:4020/api/weather' };

function renderIntent({ operation, input, shares, missing }: Intent): string {
  const slots = (OPERATIONS[operation]?.slots ?? []).flatMap((entry) => {
    const slot = entry.replace('?', '');
    const share = shares[slot];
    if (share)
      return [`${slot}=${share.numerator === share.denominator ? 'all' : reduce(share.numerator, share.denominator)}`];
    if (input[slot] !== undefined) return [`${slot}=${input[slot]}`];
    return missing.includes(slot) ? [`${slot}=?`] : [];
  });
  return [operation, ...slots].join(' ');
}

function reduce(numerator: bigint, denominator: bigint): string {
  let [left, right] = [numerator, denominator];
  while (right !== 0n) [left, right] = [right, left % right];
  return `${numerator / left}/${denominator / left}`;
}

function renderItem(item: Item): string {
  switch (item.type) {
    case 'intent':
      return renderIntent(item.intent) + item.doubts.map((word) => ` ~${word}`).join('');
    case 'remark':
      return item.remark.kind === 'explain' ? `explain:${item.remark.operation}` : item.remark.kind;
    case 'ambiguity':
      return 'ambiguous';
    case 'misunderstanding':
      return '!';
  }
}

/** What the grammar makes of a message, in one line: `swap amount=1 fromToken=USDC toToken=?; stake amount=2`. */
export const renderUnderstanding = (message: string, previous: Intent | null = null): string =>
  understand(message, { resources: RESOURCES, previous }).items.map(renderItem).join('; ');

/** One test for each wording of a table. */
export function itUnderstands(table: readonly (readonly [string, string])[]): void {
  it.each(table)('%s', (message, expected) => {
    expect(renderUnderstanding(message)).toBe(expected);
  });
}

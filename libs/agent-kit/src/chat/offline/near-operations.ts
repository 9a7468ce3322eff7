import type { Atom } from './atom.js';
import { READ_RULES, WRITE_RULES } from './lexicon/operation-rules.js';
import { OPERATIONS } from './lexicon/operations.js';

const MOST = 3;
const USUAL = ['swap', 'stake', 'getERC20Balance'];

/** Operations that share words with what was said, for examples; the usual ones where nothing is shared. */
export function findNearOperations(atoms: readonly Atom[]): readonly string[] {
  const words = new Set(atoms.map(({ kind, id }) => (kind === 'noun' ? `#${id}` : id)));
  const near = [...WRITE_RULES, ...READ_RULES]
    .filter(([operation]) => operation in OPERATIONS)
    .filter(([, condition]) => condition.split(/[ |]/).some((word) => word !== 'show' && words.has(word)))
    .map(([operation]) => operation);
  return [...new Set([...near, ...(near.length === 0 ? USUAL : [])])].slice(0, MOST);
}

import type { Atom } from './atom.js';
import { chooseOperation, hasAct } from './choose-operation.js';

export interface Clause {
  atoms: Atom[];
  /** All atoms of the sentence around it, for conditions and reported speech. */
  sentence: readonly Atom[];
  isNegated: boolean;
  /** Follows a clause of the same message. */
  isContinuation: boolean;
  /** Stands beside another with `or`. */
  isAlternative: boolean;
  /** Says inputs only: the verb of the clause before holds. */
  isVerbless: boolean;
}

interface Segment {
  joint: string;
  atoms: Atom[];
}

function splitAt(atoms: readonly Atom[], isBreak: (atom: Atom) => boolean): Segment[] {
  const segments: Segment[] = [];
  let current: Segment = { joint: 'start', atoms: [] };
  for (const atom of atoms) {
    if (!isBreak(atom)) {
      current.atoms.push(atom);
      continue;
    }
    if (current.atoms.length > 0) segments.push(current);
    // Of "; then" the stronger joint counts: `or` before all others.
    const joint = current.atoms.length === 0 && current.joint === 'or' ? 'or' : atom.id;
    current = { joint, atoms: [] };
  }
  if (current.atoms.length > 0) segments.push(current);
  return segments;
}

const hasVerb = (atoms: readonly Atom[]): boolean => atoms.some(({ kind, form }) => kind === 'verb' && form !== 'past');
const isNumberOnly = (atoms: readonly Atom[]): boolean => atoms.every(({ kind }) => kind === 'amount');

/** Whether a segment asks for something by itself. */
function standsAlone(atoms: readonly Atom[]): boolean {
  if (hasVerb(atoms)) return true;
  const { kind } = chooseOperation(atoms);
  // Readings have no amount: "20 WSEI of liquidity" asks for nothing.
  if (kind === 'read') return !has(atoms, 'amount');
  return kind === 'quote' || kind === 'write';
}

const INPUTS = new Set([
  'amount',
  'asset',
  'money',
  'address',
  'preposition',
  'leverage',
  'bps',
  'url',
  'id',
  'pronoun',
]);
const saysInputs = (atoms: readonly Atom[]): boolean => atoms.some(({ kind }) => INPUTS.has(kind));
const has = (atoms: readonly Atom[], ...kinds: Atom['kind'][]): boolean =>
  atoms.some(({ kind }) => kinds.includes(kind));

/** Whether a verbless segment goes on with the clause before it, or repeats its operation with other inputs. */
const countAssets = (atoms: readonly Atom[]): number => atoms.filter(({ kind }) => kind === 'asset').length;

function continues(clause: readonly Atom[], { joint, atoms: segment }: Segment): boolean {
  if ((joint === 'and' || joint === 'then') && segment[0]?.kind === 'unknown') return false;
  const before = chooseOperation(clause);
  const [isRead, isPool] = [before.kind === 'read', 'operation' in before && before.operation === 'addLiquidity'];
  if (isPool) return true;
  // "between USDC and WSEI"
  if (before.kind === 'quote' && !has(segment, 'amount') && countAssets(clause) === 1) return true;
  const joined = chooseOperation([...clause, ...segment]);
  const isOpen = 'operation' in before && before.operation.endsWith('Ambiguous');
  if (isOpen && 'operation' in joined && joined.operation !== before.operation) return true;
  if (isRead) return !has(segment, 'asset');
  if (!saysInputs(segment)) return true;
  if (
    has(segment, 'amount') &&
    has(clause, 'amount') &&
    !segment.some(({ id }) => ['slippage', 'atMost', 'leverage'].includes(id))
  )
    return false;
  return (
    segment[0]?.kind === 'preposition' ||
    has(segment, 'leverage', 'bps', 'noun') ||
    !has(clause, 'asset', 'money') ||
    has(segment, 'amount')
  );
}

const isNegation = (atoms: readonly Atom[]): boolean => hasAct(atoms, 'negation');

const isQuestionTail = (atoms: readonly Atom[]): boolean =>
  !has(atoms, 'amount') && atoms.some(({ kind, id }) => kind === 'noun' && (id === 'howMuch' || id === 'quote'));

/** "open a position: BTC-PERP, long, 0.003"; "USDC and SEI balance". */
function isCompletion(clause: readonly Atom[], segment: readonly Atom[]): boolean {
  if (hasVerb(segment) || isNegation(segment)) return false;
  const [before, after] = [chooseOperation(clause), chooseOperation(segment)];
  if (!('operation' in after)) return false;
  if (clause.every(({ kind }) => kind === 'asset'))
    return after.operation === 'getERC20Balance' && has(segment, 'asset');
  return (
    'operation' in before && before.operation === after.operation && after.kind === 'write' && !has(clause, 'amount')
  );
}

const isIdle = (atoms: readonly Atom[]): boolean => atoms.every(({ kind, id }) => kind === 'act' && id !== 'negation');

/** Without what is ruled out at the end: "stake 2 SEI, not 3". */
function dropContrast(atoms: Atom[]): Atom[] {
  const at = atoms.findIndex(({ kind, id, raw }) => kind === 'act' && id === 'negation' && CONTRASTS.test(raw));
  const ruledOut = atoms.slice(at + 1);
  const isContrast =
    at >= 0 && ruledOut.length > 0 && ruledOut.every(({ kind }) => ['amount', 'asset', 'money'].includes(kind));
  return isContrast ? atoms.slice(0, at) : atoms;
}

const CONTRASTS = /^(?:not|instead of|rather than)$/i;

function clausesOfSentence(sentence: Segment): Clause[] {
  const clauses: Clause[] = [];
  const segments = splitAt(sentence.atoms, ({ kind }) => kind === 'joint')
    .map((segment) => ({ ...segment, atoms: dropContrast(segment.atoms) }))
    .filter(({ atoms }) => atoms.length > 0);
  for (const { joint, atoms } of segments) {
    const last = clauses.at(-1);
    if (last && joint === 'slash') {
      last.atoms.push({ kind: 'joint', id: 'and', raw: '/' }, ...atoms);
      continue;
    }
    if (last && joint === 'or' && isNumberOnly(atoms.slice(0, 1))) last.isAlternative = true;
    if (last && isCompletion(last.atoms, atoms)) {
      last.atoms.push({ kind: 'joint', id: joint, raw: joint === 'comma' ? ',' : joint }, ...atoms);
      continue;
    }
    const isVerbless = !standsAlone(atoms);
    // "if I stake 2, how much do I get?"
    if (last && hasAct(last.atoms, 'hypothetical') && isQuestionTail(atoms)) {
      last.atoms.push(...atoms);
      continue;
    }
    if (last && isVerbless && !hasAct(atoms, 'negation') && continues(last.atoms, { joint, atoms })) {
      last.atoms.push({ kind: 'joint', id: joint, raw: joint === 'comma' ? ',' : joint }, ...atoms);
      continue;
    }
    const isNegated =
      isNegation(atoms) || (last?.isNegated === true && (joint === 'and' || joint === 'or') && !isNegation(atoms));
    if (last && joint === 'or') last.isAlternative = true;
    clauses.push({
      atoms,
      sentence: sentence.atoms,
      isNegated,
      isContinuation: clauses.length > 0,
      isAlternative: joint === 'or',
      isVerbless,
    });
  }
  return clauses;
}

/** The clauses of a message. Within a sentence, what stands after a joint without a verb goes on with the clause before. */
export function splitClauses(atoms: readonly Atom[]): Clause[] {
  const sentences = splitAt(atoms, ({ kind, id }) => kind === 'joint' && id === 'stop');
  const clauses = sentences.flatMap(clausesOfSentence).filter(({ atoms: own }) => !isIdle(own));
  return clauses.map((clause, index) => ({ ...clause, isContinuation: index > 0 }));
}

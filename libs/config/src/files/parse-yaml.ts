import {
  isMap,
  isNode,
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  parseDocument,
  visit,
  type Document,
  type YAMLParseError,
  type YAMLWarning,
} from 'yaml';

import { ConfigurationError } from '../configuration-error.js';

export interface ParsedYaml {
  readonly value: unknown;
  /** The line of a place, or of the nearest entry around it; null for the document. */
  lineOf(place: Place): number | null;
}

const MOST_BYTES = 1_048_576;
const MOST_ALIASES = 100;
/** After a syntax error the rest is misread, so further errors are rarely useful. */
const MOST_FAULTS = 5;

/**
 * Parses YAML 1.2, which includes JSON. Amounts, addresses, keys and versions keep their source text where they are
 * written without quotes: a number does not represent cents or an address exactly.
 *
 * @throws ConfigurationError with one line for each problem, including duplicate keys, unknown tags and excessive aliases
 */
export function parseYaml(text: string): ParsedYaml {
  if (Buffer.byteLength(text) > MOST_BYTES) throw new ConfigurationError([`is larger than ${MOST_BYTES} bytes`]);
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: true });
  const faults = [...document.errors, ...document.warnings];
  if (faults.length > 0)
    throw new ConfigurationError(faults.slice(0, MOST_FAULTS).map((fault) => describe(fault, lines)));
  keepAsText(document);
  try {
    const value: unknown = document.toJS({ maxAliasCount: MOST_ALIASES });
    return { value, lineOf: (place) => lineOf(document, lines, place) };
  } catch (error) {
    throw new ConfigurationError([error instanceof Error ? error.message : String(error)]);
  }
}

function describe({ code, message, pos }: YAMLParseError | YAMLWarning, lines: LineCounter): string {
  const { line, col } = lines.linePos(pos[0]);
  if (code === 'MULTIPLE_DOCS') return `line ${line}, column ${col}: the file contains a second document`;
  // The parser quotes the text that it did not expect, which may be a secret.
  return `line ${line}, column ${col}: ${message.replace(/: ".*"$/s, '')}`;
}

const KEPT_AS_TEXT: ReadonlySet<unknown> = new Set(['price', 'token', 'payTo', 'relayers', 'version', 'rate']);

function keepAsText(document: Document): void {
  visit(document, {
    Pair(_, { key, value }) {
      const isKept = isScalar(key) && KEPT_AS_TEXT.has(key.value);
      if (isKept && isScalar(value) && typeof value.value === 'number') value.value = value.source;
    },
  });
}

function lineOf(document: Document, lines: LineCounter, place: Place): number | null {
  let node: unknown = document.contents;
  let line: number | null = null;
  for (const step of place) {
    if (isMap(node)) {
      const pair: unknown = node.items.find(({ key }) => isScalar(key) && key.value === step);
      if (!isPair(pair)) return line;
      line = startOf(pair.key, lines) ?? line;
      node = pair.value;
    } else if (isSeq(node) && typeof step === 'number') {
      node = node.items[step];
      line = startOf(node, lines) ?? line;
    } else {
      return line;
    }
  }
  return line;
}

function startOf(node: unknown, lines: LineCounter): number | null {
  return isNode(node) && node.range ? lines.linePos(node.range[0]).line : null;
}

/** A place in the file: `['routes', 2, 'price']` is formatted as `routes[2].price`. */
export type Place = readonly (string | number)[];

/** What is wrong at a place of a file, in words that follow the place's name. */
export interface FileProblem {
  readonly place: Place;
  readonly message: string;
}

export function formatPlace(place: Place): string {
  return place
    .map((step, index) => {
      if (typeof step === 'number') return `[${step}]`;
      return /^[\w-]+$/.test(step) ? `${index === 0 ? '' : '.'}${step}` : `[${JSON.stringify(step)}]`;
    })
    .join('');
}

/** One sentence for each problem with its place, in the order of the file: `routes[2].price (line 9): …` */
export function describeProblems(yaml: ParsedYaml, problems: readonly FileProblem[]): string[] {
  const lines = problems.map((problem) => ({ ...problem, line: yaml.lineOf(problem.place) }));
  lines.sort((one, other) => (one.line ?? 0) - (other.line ?? 0));
  return lines.map(({ place, line, message }) => {
    const sentence = /[.?]$/.test(message) ? message : `${message}.`;
    if (place.length === 0) return `The file ${sentence}`;
    return `${formatPlace(place)}${line === null ? '' : ` (line ${line})`}: ${sentence}`;
  });
}

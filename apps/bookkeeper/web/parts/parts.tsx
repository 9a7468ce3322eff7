import type { ComponentChildren } from 'preact';

import { showTime } from '../../../../libs/http/src/web/show-time.js';
import type { RequestFailed } from '../data/api.js';
import { shorten } from '../data/format.js';
import type { Live } from '../data/live.js';

export function Time({ at }: { at: string }) {
  return (
    <time dateTime={at} title={at}>
      {showTime(at)}
    </time>
  );
}

const GOOD = ['answered', 'FINAL', 'done', 'sends'];
const BAD = [
  'given_up',
  'refused',
  'REVERTED',
  'REJECTED',
  'PLAN_FAILED',
  'NEEDS_OPERATOR',
  'failed',
  'frozen',
  'no process',
];
const WAITING = ['released', 'unclaimed', 'AWAITING_APPROVAL', 'refunding', 'paused', 'not adopted'];

/** A state as a word; the colour only repeats it. */
export function State({ state }: { state: string }) {
  const tone = GOOD.includes(state)
    ? 'good'
    : BAD.includes(state)
      ? 'bad'
      : WAITING.includes(state)
        ? 'waiting'
        : 'plain';
  return (
    <span class="state" data-tone={tone}>
      {state.toLowerCase().replaceAll('_', ' ')}
    </span>
  );
}

/** Why something could not be read or done. */
export function Failure({ problem }: { problem: RequestFailed | null }) {
  if (problem === null) return null;
  return (
    <p class="failure" role="alert">
      {problem.message}
    </p>
  );
}

/** Why a path could not be read, or that its first answer is waited for. */
export function Reading({ of: { data, problem } }: { of: Live<unknown> }) {
  if (data === null && problem === null) return <p class="reading">Reading…</p>;
  return <Failure problem={problem} />;
}

/** What to do where there is nothing to show. */
export function Empty({ children }: { children: ComponentChildren }) {
  return <p class="empty">{children}</p>;
}

interface HexProps {
  /** Null: there is none. */
  readonly text: string | null;
  /** See `explorerOf`. */
  readonly explorer?: string | null;
  readonly kind?: 'tx' | 'address';
}

/** A hash or an address: its ends, and the whole as title; a link where the explorer has it. */
export function HexText({ text, explorer = null, kind = 'tx' }: HexProps) {
  if (text === null) return 'none';
  const short = <code title={text}>{shorten(text)}</code>;
  if (explorer === null || !/^https?:\/\//.test(explorer)) return short;
  return (
    <a href={`${explorer}/${kind}/${encodeURIComponent(text)}`} rel="noreferrer noopener" target="_blank">
      {short}
      <span class="hidden"> in the explorer, in a new tab</span>
    </a>
  );
}

export interface Column<Row> {
  readonly name: string;
  readonly show: (row: Row) => ComponentChildren;
  readonly isNumber?: boolean;
}

/** A table that becomes a list of rows where the window is narrow. */
export function Table<Row>(props: {
  label: string;
  columns: readonly Column<Row>[];
  /** Undefined: they are not read yet. */
  rows: readonly Row[] | undefined;
  keyOf: (row: Row) => string | number;
  /** What to do where there is no row. */
  empty?: ComponentChildren;
}) {
  const { label, columns, rows, keyOf, empty } = props;
  if (rows === undefined) return null;
  if (rows.length === 0) return empty === undefined ? null : <Empty>{empty}</Empty>;
  return (
    <table aria-label={label}>
      <thead>
        <tr>
          {columns.map(({ name, isNumber }) => (
            <th key={name} scope="col" class={isNumber === true ? 'number' : ''}>
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={keyOf(row)}>
            {columns.map(({ name, show, isNumber }) => (
              <td key={name} data-name={name} class={isNumber === true ? 'number' : ''}>
                {show(row)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** Names and values; one whose value is null is left out. */
export function Facts({ facts }: { facts: readonly (readonly [name: string, value: ComponentChildren])[] }) {
  const shown = facts.filter(([, value]) => value !== null);
  return (
    <dl>
      {shown.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** Which of a few is shown. */
export function Choice<Name extends string>(props: {
  label: string;
  names: readonly Name[];
  chosen: Name;
  onChoose: (name: Name) => void;
}) {
  const { label, names, chosen, onChoose } = props;
  return (
    <div class="choice" role="group" aria-label={label}>
      {names.map((name) => (
        <button key={name} type="button" aria-pressed={name === chosen} onClick={() => onChoose(name)}>
          {name}
        </button>
      ))}
    </div>
  );
}

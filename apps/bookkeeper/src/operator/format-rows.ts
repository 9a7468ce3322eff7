type Row = readonly (string | null)[];

/** RFC 4180. A text that a spreadsheet would take for a formula gets an apostrophe, since payers choose some of them. */
export function formatCsv(rows: readonly Row[]): string {
  return rows.map((row) => `${row.map(formatCell).join(',')}\r\n`).join('');
}

export function formatJsonLines(columns: readonly string[], rows: readonly Row[]): string {
  return rows
    .map((row) => `${JSON.stringify(Object.fromEntries(columns.map((name, index) => [name, row[index] ?? null])))}\n`)
    .join('');
}

function formatCell(value: string | null): string {
  if (value === null) return '';
  // A negative amount is no formula.
  const text = /^[=+@\t\r]|^-(?!\d+$)/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

import { readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';

export const ROOT = join(import.meta.dirname, '..', '..');

/** Writes the files, by path; with `--check` only compares, and ends the process where they differ. */
export function writeGenerated(files: Record<string, string>, command: string): void {
  const stale = Object.entries(files).filter(([path, content]) => readFileSync(path, 'utf8') !== content);
  if (stale.length > 0 && process.argv.includes('--check')) {
    const names = stale.map(([path]) => relative(ROOT, path)).join(' and ');
    console.error(`${names}: not as the code has it. Run: npm run ${command}`);
    process.exit(1);
  }
  for (const [path, content] of stale) writeFileSync(path, content);
}

/** The page with other text between its markers `<name>:begin` and `<name>:end`. */
export function fillIn(path: string, name: string, text: string): string {
  const [begin, end] = [`<!-- ${name}:begin (npm run docs:${name}) -->`, `<!-- ${name}:end -->`];
  const page = readFileSync(path, 'utf8');
  const [from, to] = [page.indexOf(begin), page.indexOf(end)];
  if (from < 0 || to < from) throw new Error(`${path} lacks its markers ${begin} and ${end}.`);
  const inner = `\n\n<!-- prettier-ignore-start -->\n\n${text}\n\n<!-- prettier-ignore-end -->\n\n`;
  return page.slice(0, from + begin.length) + inner + page.slice(to);
}

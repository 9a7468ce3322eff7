// Prepares a release: checks, tarballs, tag and notes. It publishes nothing.
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';

import { readArguments } from '../answer-usage.mjs';
import { runGit } from '../run-git.mjs';
import { runStep } from '../run-step.mjs';
import { packPackages, readPackages } from './pack-packages.mjs';

const HELP = `npm run release [-- --dry-run]: prepares a release of the version in package.json.

It checks that the tree is clean and on main, that the versions of all packages agree with each other and with
package-lock.json, that the tag is free, and that CHANGELOG.md has a section of the version; builds the packages into
dist/release/<version>; makes the tag v<version> in this clone; and prints the notes and the commands that publish.
It pushes and publishes nothing: those commands need your credentials.

  --dry-run  makes no tag, shows every problem, takes the notes of "Unreleased" where the version has no section, and asks
             for no date of the release
  --help     this text

The exit code is 0 when nothing stands in the way of the release, and 1 otherwise.

Example: npm run release -- --dry-run
`;

const root = process.cwd();
const { values } = readArguments(HELP, { options: { 'dry-run': { type: 'boolean', default: false } } });
const isDryRun = values['dry-run'];
const { version } = readJson('package.json');
const tag = `v${version}`;

const problems = [...findTreeProblems(), ...findVersionProblems()];
const notes = readNotes(version) ?? (isDryRun ? readNotes('Unreleased') : null);
if (readNotes(version) === null) {
  problems.push(`CHANGELOG.md has no section "## ${version} - <date>": rename "## Unreleased" to it.`);
} else if (!isDryRun && !isDated(version)) {
  problems.push(
    `CHANGELOG.md has no date of ${version}: write "## ${version} - ${new Date().toISOString().slice(0, 10)}".`,
  );
}
for (const problem of problems) process.stderr.write(`✗ ${problem}\n`);
if (problems.length > 0) process.exitCode = 1;
if (problems.length === 0 || isDryRun) await prepareRelease();

async function prepareRelease() {
  const folder = join(root, 'dist', 'release', version);
  rmSync(folder, { recursive: true, force: true });
  let tarballs = [];
  await runStep('packages (tsc, npm pack)', async () => {
    tarballs = await packPackages(root, folder);
  });
  // By standard input: notes may be longer than an argument, and lines with # are headings.
  if (!isDryRun) git(['tag', '--annotate', tag, '--cleanup=verbatim', '--file=-'], `${tag}\n\n${notes}\n`);
  const files = tarballs.map((tarball) => relative(root, tarball));
  const image = `tollgate/service:${version}`;
  process.stdout.write(`
Tag:      ${tag}${isDryRun ? ' (not made: dry run)' : ''}
Image:    ${image}
Tarballs: ${files.join('\n          ')}

To publish:
  git push origin ${tag}
${files.map((file) => `  npm publish --access public ${file}`).join('\n')}
  docker build --target service --tag ${image} . && docker push ${image}

Notes:

${notes ?? '(none)'}
`);
}

function findTreeProblems() {
  const branch = git(['branch', '--show-current']);
  const changed = git(['status', '--porcelain']).split('\n').filter(Boolean);
  return [
    branch !== 'main' && `The branch is ${branch || 'none'}: releases are made from main.`,
    changed.length > 0 &&
      `The tree is not clean (${changed.length} files): commit or remove what \`git status\` shows.`,
    git(['tag', '--list', tag]) !== '' && `The tag ${tag} exists: raise the version in package.json.`,
  ].filter(Boolean);
}

function findVersionProblems() {
  const packages = readPackages(root);
  const versions = new Map(packages.map(({ manifest }) => [manifest.name, manifest.version]));
  const locked = readJson('package-lock.json').packages;
  const inLock = [{ folder: '', manifest: { name: 'package.json', version } }, ...packages]
    .filter(({ folder, manifest }) => locked[folder]?.version !== manifest.version)
    .map(
      ({ folder, manifest }) =>
        `package-lock.json has ${manifest.name} ${locked[folder]?.version}, not ${manifest.version}: run \`npm install\`.`,
    );
  const inPackages = packages.flatMap(({ manifest }) =>
    Object.entries(manifest.dependencies ?? {})
      .filter(([name, wanted]) => versions.has(name) && versions.get(name) !== wanted)
      .map(([name, wanted]) => `${manifest.name} depends on ${name} ${wanted}, and that is ${versions.get(name)}.`),
  );
  return [...inLock, ...inPackages];
}

/** The text under a heading such as `## 1.2.0 - 2026-01-31` or `## Unreleased`; null where there is none. */
function readNotes(name) {
  const section = findSection(name);
  return section?.slice(section.indexOf('\n')).trim() || null;
}

function isDated(name) {
  return / - \d{4}-\d{2}-\d{2}$/.test(findSection(name).split('\n', 1)[0]);
}

function findSection(name) {
  if (!existsSync(join(root, 'CHANGELOG.md'))) return undefined;
  const sections = readFileSync(join(root, 'CHANGELOG.md'), 'utf8').split(/^## /m).slice(1);
  return sections.find((text) => text.split(/\s/, 1)[0].replace(/[[\]]/g, '') === name);
}

function git(gitArgs, input) {
  return runGit(gitArgs, { cwd: root, input }).trim();
}

function readJson(file) {
  return JSON.parse(readFileSync(join(root, file), 'utf8'));
}

import { readArguments } from '../answer-usage.mjs';
import { loadWhenReady } from '../load-when-ready.mjs';
import { runGit } from '../run-git.mjs';

const HELP = `npm run test:upgrade [-- <commit>] [options]: replaces the services of that commit by those of this folder under load, and back.

The commit is the newest release (the tag v*) if none is named; until there is a release it is HEAD.

It builds the commit in a git worktree in a temporary folder, which it removes at the end, and starts a bookkeeper, two
gateways, two verifiers and two agent workers of it over one Redis and one local chain. While clients pay by transaction
hash and by signed payments and submit agent jobs, it replaces one process after the other (SIGTERM, then the other
version on the same port): bookkeeper, agent workers, gateways, verifiers; then back in reverse, without the bookkeeper.
After each direction it compares the answers, the journal, the book and the chain: every payment was served, none was
charged twice, no job was sent twice, and the book has it all.

  --seconds <n>  load between two replacements (default 5)
  --help         this text

The exit code is 0 when all of it held, 1 when something did not. Ctrl-C stops the processes and removes the worktree.

Example: npm run test:upgrade -- HEAD --seconds 2
`;

const { values, positionals } = readArguments(
  HELP,
  { allowPositionals: true, options: { seconds: { type: 'string', default: '5' } } },
  (read) => {
    if (read.positionals.length > 1) throw new Error('Name one commit to upgrade from, for example HEAD~3.');
    if (!(Number(read.values.seconds) >= 1)) throw new Error('--seconds needs a number of 1 or more.');
  },
);
const { runUpgradeTest } = await loadWhenReady('test/upgrade/run-upgrade-test.ts', {
  needsRedisServer: true,
  needsPrograms: ['git'],
});
const [commit = findNewestRelease() ?? 'HEAD'] = positionals;
process.exit(await runUpgradeTest({ commit, seconds: Number(values.seconds) }));

function findNewestRelease() {
  return runGit(['tag', '--list', 'v*', '--sort=-version:refname']).split('\n').find(Boolean);
}

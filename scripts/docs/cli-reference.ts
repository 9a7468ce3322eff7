/** Writes `docs/cli.md` from the definitions of the commands; `--check` only compares. */
import { join } from 'node:path';

import type { Command } from 'commander';

import { createProgram } from '../../tools/cli/program.js';
import { ROOT, writeGenerated } from './generated-files.js';

const WIDTH = 100;

const INTRODUCTION = `# The \`tollgate\` command

<!-- Written by npm run docs:cli. -->

One command for operators, payers and agents. In a clone it is \`npx tollgate\`, built by \`npm run setup\` and \`npm run dev\`. It is on the PATH of the
service image (\`docker compose exec gateway tollgate payments list\`). In a clone \`npm run payments -- list\` is
\`tollgate payments list\` too, without a build; the same holds for \`jobs\`, \`keys\`, \`wallets\`, \`webhooks\`, \`backup\`, \`restore\`, \`pay\` and \`mcp\`. \`npm run chat\` is
\`tollgate chat\` on a devnet. The published packages have \`tollgate-pay\`, \`tollgate-chat\` and \`tollgate-mcp\`, which are
\`tollgate pay\`, \`tollgate chat\` and \`tollgate mcp\`.

| Exit code | Meaning                                                                             |
| --------- | ----------------------------------------------------------------------------------- |
| 0         | Done.                                                                               |
| 1         | Not done. The last line on stderr says why, for example that Redis does not answer. |
| 2         | Wrong usage. stderr says what is wrong and which help to read.                      |
| 3 to 5    | Of \`tollgate pay\` alone; see its help.                                              |
| 130       | Ended by Ctrl-C.                                                                    |

With \`--json\` the commands of operators print one JSON document on stdout; a command that only changes something prints
\`{"message": …}\`. Errors go to stderr as text. Give URLs that hold a password, and keys, in the environment: other users of
the machine can read the arguments of a command. In the service image, \`tollgate mcp\`, and \`tollgate chat\` with a model, say
which packages they need: the image does not have them.
`;

function describe(command: Command, names: readonly string[]): string {
  const name = [...names, command.name()];
  const subcommands = command.commands.map((one) => describe(one, name));
  const heading = `${'#'.repeat(name.length)} ${name.join(' ')}`;
  return [heading, `\`\`\`text\n${helpOf(command)}\n\`\`\``, ...subcommands].join('\n\n');
}

function helpOf(command: Command): string {
  let text = '';
  command.configureOutput({ writeOut: (part) => (text += part), getOutHelpWidth: () => WIDTH });
  command.outputHelp();
  return text.trimEnd();
}

const program = createProgram({ env: {}, stdout: () => undefined, stderr: () => undefined }, () => undefined);
const commands = program.commands.map((command) => describe(command, ['tollgate']));
const page = `${[INTRODUCTION.trimEnd(), ...commands].join('\n\n')}\n`;
writeGenerated({ [join(ROOT, 'docs', 'cli.md')]: page }, 'docs:cli');

/** Writes `docs/cli.md` from the definitions of the commands; `--check` only compares. */
import { join } from 'node:path';

import { Help, type Command, type Option } from 'commander';

import { createProgram } from '../../tools/cli/program.js';
import { EXIT_CODES } from '../../tools/cli/shared/cli-command.js';
import { ROOT, writeGenerated } from './generated-files.js';

const WIDTH = 100;

const INTRODUCTION = `# The \`tollgate\` command

<!-- Written by npm run docs:cli. -->

One command for operators, payers and agents. In a clone it is \`npx tollgate\`, built by \`npm run setup\` and \`npm run dev\`. The service image has it
on the PATH: \`docker compose exec gateway tollgate payments list\`. Without a build, a clone runs \`npm run payments -- list\`, and so \`jobs\`, \`keys\`,
\`wallets\`, \`webhooks\`, \`backup\`, \`restore\`, \`pay\` and \`mcp\`; \`npm run chat\` is \`tollgate chat\` on a devnet. The published packages have
\`tollgate-pay\`, \`tollgate-chat\` and \`tollgate-mcp\`.

| Exit code | Meaning                                                                             |
| --------- | ----------------------------------------------------------------------------------- |
| 0         | Done.                                                                               |
| 1         | Not done. The last line on stderr says why, for example that Redis does not answer. |
| 2         | Wrong usage. stderr says what is wrong and which help to read.                      |
| 3 to 5    | Of \`tollgate pay\` alone; see its help.                                              |
| 130       | Ended by Ctrl-C.                                                                    |

With \`--json\`, a command that only changes something prints \`{"message": …}\`. Errors go to stderr as text. Give keys, and URLs that hold a password, in
the environment: other users of the machine can read the arguments of a command. The service image lacks the packages that \`tollgate mcp\`, and
\`tollgate chat\` with a model, need; they name them.`;

const page = [INTRODUCTION];
const program = createProgram({ env: {}, stdout: () => undefined, stderr: () => undefined }, () => undefined);
const common = findCommonOptions(program.commands.flatMap((command) => [command, ...command.commands]));
page.push('These options are described here only; each command names those that it has:');
page.push(common.map((option) => `- \`${option.flags}\`: ${new Help().optionDescription(option)}`).join('\n'));
for (const command of program.commands) describe(command, ['tollgate']);
writeGenerated({ [join(ROOT, 'docs', 'cli.md')]: `${page.join('\n\n')}\n` }, 'docs:cli');

/** The options that three or more commands have with the same text, one of each. */
function findCommonOptions(commands: readonly Command[]): Option[] {
  const options = commands.flatMap((command) => command.options);
  const likes = (one: Option): Option[] => options.filter((other) => isSame(one, other));
  return options.filter((one) => likes(one).length >= 3 && likes(one)[0] === one);
}

function isSame(one: Option, other: Option): boolean {
  return one.flags === other.flags && one.description === other.description;
}

function describe(command: Command, names: readonly string[]): void {
  const name = [...names, command.name()];
  const own = command.options.filter((option) => !common.some((one) => isSame(one, option)));
  const others = command.options.filter((option) => !own.includes(option));
  const text = helpOf(command, own);
  page.push(`${'#'.repeat(name.length)} ${name.join(' ')}`, `\`\`\`text\n${text}\n\`\`\``);
  if (others.length > 0) page.push(`Also ${others.map((option) => `\`${option.long ?? option.flags}\``).join(', ')}.`);
  for (const one of command.commands) describe(one, name);
}

/** The command's help without what the page says elsewhere: common options, exit codes, and its subcommands, which follow. */
function helpOf(command: Command, options: Option[]): string {
  let text = '';
  command.configureHelp({ visibleOptions: () => options, visibleCommands: () => [] });
  command.configureOutput({ writeOut: (part) => (text += part), getOutHelpWidth: () => WIDTH });
  command.outputHelp();
  return text.replace(EXIT_CODES, '').replace('Usage: ', '').trim();
}

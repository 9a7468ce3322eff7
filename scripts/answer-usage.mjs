import { parseArgs } from 'node:util';

/** Prints the help and ends the process, if these arguments ask for it. */
export function answerHelp(args, help) {
  if (!args.some((flag) => flag === '--help' || flag === '-h')) return;
  process.stdout.write(help);
  process.exit(0);
}

/** Ends the process because of invalid arguments: prints the reason and the usage. */
export function refuseUsage(reason, help) {
  process.stderr.write(`${reason}\n\n${help}`);
  process.exit(2);
}

/**
 * The arguments as `parseArgs` reads them, or the help, or the usage; `check` may throw what is wrong with them.
 * @template {import('node:util').ParseArgsConfig} const Configuration
 * @param {string} help
 * @param {Configuration} configuration
 * @param {(read: ReturnType<typeof parseArgs<Configuration>>) => void} check
 * @returns {ReturnType<typeof parseArgs<Configuration>>}
 */
export function readArguments(help, configuration, check = () => undefined) {
  answerHelp(process.argv.slice(2), help);
  try {
    const read = parseArgs(configuration);
    check(read);
    return read;
  } catch (error) {
    return refuseUsage(error.message, help);
  }
}

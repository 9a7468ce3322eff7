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

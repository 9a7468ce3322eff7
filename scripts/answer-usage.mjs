/** Ends the process with the help, where these arguments ask for it. */
export function answerHelp(args, help) {
  if (!args.some((flag) => flag === '--help' || flag === '-h')) return;
  process.stdout.write(help);
  process.exit(0);
}

/** Ends the process for arguments that mean nothing to a command: why, and how it is used. */
export function refuseUsage(reason, help) {
  process.stderr.write(`${reason}\n\n${help}`);
  process.exit(2);
}

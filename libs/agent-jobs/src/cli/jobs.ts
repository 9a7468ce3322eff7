import { runCommand } from './run-command.js';
import { JOBS_HELP, runJobs } from './run-jobs.js';

await runCommand(JOBS_HELP, () =>
  runJobs(process.argv.slice(2), { env: process.env, print: (text) => console.log(text) }),
);

import { runTollgate } from './program.js';

void runTollgate(process.argv.slice(2), {
  env: process.env,
  stdout: (text) => {
    // A reader such as `head` that closes the pipe has read enough.
    if (process.stdout.listenerCount('error') === 0) process.stdout.on('error', () => process.exit(0));
    process.stdout.write(text);
  },
  stderr: (text) => process.stderr.write(text),
}).then((exitCode) => {
  process.exitCode = exitCode;
});

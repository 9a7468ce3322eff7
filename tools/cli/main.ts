import { runTollgate } from './program.js';

process.exitCode = await runTollgate(process.argv.slice(2), {
  env: process.env,
  stdout: (text) => {
    // Whoever read the output has seen enough, as `head` has.
    if (process.stdout.listenerCount('error') === 0) process.stdout.on('error', () => process.exit(0));
    process.stdout.write(text);
  },
  stderr: (text) => process.stderr.write(text),
});

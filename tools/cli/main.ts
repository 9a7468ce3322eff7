import { writeStdoutFile } from '../../packages/client/src/cli/write-stdout-file.js';
import { runTollgate } from './program.js';

function failToWrite({ code }: NodeJS.ErrnoException): never {
  // A reader such as `head` that closes the pipe has read enough.
  if (code === 'EPIPE') process.exit(0);
  process.stderr.write(`stdout cannot be written (${code}).\n`);
  process.exit(1);
}

void runTollgate(process.argv.slice(2), {
  env: process.env,
  stdout: (text) => {
    try {
      if (writeStdoutFile(text)) return;
    } catch (error) {
      failToWrite(error as NodeJS.ErrnoException);
    }
    if (process.stdout.listenerCount('error') === 0) process.stdout.on('error', failToWrite);
    process.stdout.write(text);
  },
  stderr: (text) => process.stderr.write(text),
}).then((exitCode) => {
  process.exitCode = exitCode;
});

#!/usr/bin/env node
import { runPay } from './run-pay.js';

process.exitCode = await runPay(process.argv.slice(2), process.env, {
  showsStdout: process.stdout.isTTY,
  // Waits for the pipe: a long answer must neither fill the memory nor be cut off at the exit.
  stdout: (bytes) =>
    new Promise((resolve, reject) => process.stdout.write(bytes, (error) => (error ? reject(error) : resolve()))),
  stderr: (line) => process.stderr.write(`${line}\n`),
});

#!/usr/bin/env node
import { runMcp } from './run-mcp.js';

// Only protocol messages may reach stdout, whatever a package thinks it has to tell.
console.log = console.info = console.debug = console.error;

const stopRequest = new Promise((resolve) => {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, resolve);
});

process.exit(
  await runMcp(process.argv.slice(2), process.env, {
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: (line) => process.stderr.write(`${line}\n`),
    stopRequest,
  }),
);

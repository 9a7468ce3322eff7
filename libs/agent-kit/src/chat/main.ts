#!/usr/bin/env node
import { runChat } from './run-chat.js';

const stop = new AbortController();
const leave = () => {
  // A second signal, or a turn that does not end.
  if (stop.signal.aborted) process.exit(130);
  stop.abort();
};
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, leave);

process.exit(
  await runChat(process.argv.slice(2), {
    env: process.env,
    streams: { input: process.stdin, output: process.stdout },
    stop: stop.signal,
    leaveAtOnce: () => process.exit(130),
  }),
);

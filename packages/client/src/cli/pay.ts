#!/usr/bin/env node
import { processTerminal, runPay } from './pay-command.js';

void runPay(process.argv.slice(2), process.env, processTerminal).then((exitCode) => {
  process.exitCode = exitCode;
});

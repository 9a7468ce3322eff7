#!/usr/bin/env node
import { processTerminal, runPay } from './pay-command.js';

process.exitCode = await runPay(process.argv.slice(2), process.env, processTerminal);

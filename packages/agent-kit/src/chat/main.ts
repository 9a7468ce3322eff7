#!/usr/bin/env node
import { chatOfThisProcess, runChatCommand } from './chat-command.js';

void runChatCommand(process.argv.slice(2), chatOfThisProcess()).then((exitCode) => process.exit(exitCode));

#!/usr/bin/env node
import { chatOfThisProcess, runChatCommand } from '../cli/chat-command.js';

process.exit(await runChatCommand(process.argv.slice(2), chatOfThisProcess()));

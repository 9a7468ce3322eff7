#!/usr/bin/env node
import { createMcpCommand, serveThisProcess } from './mcp-command.js';

await createMcpCommand(serveThisProcess).parseAsync();

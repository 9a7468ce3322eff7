#!/usr/bin/env node
import { createMcpCommand, serveThisProcess } from './mcp-command.js';

void createMcpCommand(serveThisProcess).parseAsync();

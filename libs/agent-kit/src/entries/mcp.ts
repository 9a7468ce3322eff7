import { loadPackages } from '../load-packages.js';

// What `import` of `@tollgate/agent-kit/mcp` loads. `require`, which cannot wait, gets the module itself.
export const { createMcpServer } = await loadPackages(
  '@tollgate/agent-kit/mcp',
  ['@modelcontextprotocol/sdk'],
  () => import('../tools/mcp.js'),
);

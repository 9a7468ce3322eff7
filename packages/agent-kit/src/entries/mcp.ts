import { loadPackages } from '../load-packages.js';

// The entry for `import` of `@tollgate/agent-kit/mcp`, which loads asynchronously. `require` cannot, and gets the
// module itself.
export const { createMcpServer } = await loadPackages(
  '@tollgate/agent-kit/mcp',
  ['@modelcontextprotocol/sdk'],
  () => import('../tools/mcp.js'),
);

import { loadPackages } from '../load-packages.js';

// The entry for `import` of `@tollgate/agent-kit/langchain`, which loads asynchronously. `require` cannot, and gets the
// module itself.
export const { createLangChainTools } = await loadPackages(
  '@tollgate/agent-kit/langchain',
  ['@langchain/core'],
  () => import('../tools/langchain.js'),
);

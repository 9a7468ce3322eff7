import { loadPackages } from '../load-packages.js';

// What `import` of `@tollgate/agent-kit/langchain` loads. `require`, which cannot wait, gets the module itself.
export const { createLangChainTools } = await loadPackages(
  '@tollgate/agent-kit/langchain',
  ['@langchain/core'],
  () => import('../tools/langchain.js'),
);

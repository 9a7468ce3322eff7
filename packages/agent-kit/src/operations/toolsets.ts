/** What a model can be offered, by purpose. An operation that a plugin adds is in `plugins`. */
export const TOOLSETS = [
  'read',
  'tokens',
  'nfts',
  'pay',
  'swap',
  'liquidity',
  'lend',
  'stake',
  'perps',
  'plugins',
] as const;

export type Toolset = (typeof TOOLSETS)[number];

export function isToolset(name: string): name is Toolset {
  return TOOLSETS.some((toolset) => toolset === name);
}

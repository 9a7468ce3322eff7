/**
 * Node's own module; undefined in other runtimes. It is not imported, so that a bundle for a browser needs no
 * replacement for it.
 */
export function findNodeModule<Module>(name: string): Module | undefined {
  const { process } = globalThis as { process?: { getBuiltinModule?: (name: string) => unknown } };
  return process?.getBuiltinModule?.(name) as Module | undefined;
}

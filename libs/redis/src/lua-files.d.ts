/** The text of a `.lua` file, as the build, the tests and `scripts/lua-modules.mjs` load it. */
declare module '*.lua' {
  const text: string;
  export default text;
}

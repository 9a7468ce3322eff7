/** The text of a `.sql` file, loaded as a `.lua` file is. */
declare module '*.sql' {
  const text: string;
  export default text;
}

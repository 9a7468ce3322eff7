declare module 'swagger-ui-dist/absolute-path.js' {
  /** The folder that contains the page's files. */
  export default function absolutePath(): string;
}

import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { createWebFile, findBuiltPages, hashForPolicy, type WebFile } from '@tollgate/common';

/** The one document of the console: it holds no data, and its script asks for everything it shows. */
export interface ConsoleDocument {
  readonly html: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly script: WebFile;
}

const NOT_BUILT = 'The console is not built. Run `npm run build` and start the bookkeeper again.';

/** From the built files of apps/bookkeeper/web; a sentence for people where they are not built. */
export function readConsoleDocument(): ConsoleDocument | string {
  const folder = findBuiltPages('bookkeeper', 'console.js');
  if (folder === null) return NOT_BUILT;
  const style = readFileSync(join(folder, 'style.css'));
  const script = createWebFile('/console/assets', 'console', 'js', readFileSync(join(folder, 'console.js')));
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Tollgate console</title>
<link rel="icon" href="data:,">
<style>${style.toString('utf8')}</style>
</head>
<body>
<noscript><main><h1>Tollgate console</h1><p>The console needs JavaScript. Without it, use the command <code>tollgate</code>.</p></main></noscript>
<div id="console"></div>
<script src="${script.path}" integrity="${script.hash}" defer></script>
</body>
</html>
`;
  const policy = [
    "default-src 'none'",
    `script-src '${script.hash}'`,
    `style-src '${hashForPolicy(style)}'`,
    'img-src data:',
    "connect-src 'self'",
    ...["form-action 'none'", "base-uri 'none'", "frame-ancestors 'none'"],
    ...["require-trusted-types-for 'script'", "trusted-types 'none'"],
  ];
  const headers = {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': policy.join('; '),
    'Cross-Origin-Opener-Policy': 'same-origin',
  };
  return { html, headers, script };
}

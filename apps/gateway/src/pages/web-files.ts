import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { createWebFile, findBuiltPages, hashForPolicy, type WebFile } from '@tollgate/common';

export interface WebFiles {
  readonly script: WebFile;
  /** Written into the frame of a sold page. */
  readonly frameScript: string;
  /** Written into each page, so that it is never seen without. */
  readonly style: { readonly text: string; readonly hash: string };
}

/** The folder of all files of the pages. */
export const ASSETS_PATH = '/pay/assets';

/** The built files of apps/gateway/web; null where they are not built. */
export function readWebFiles(): WebFiles | null {
  const folder = findBuiltPages('gateway', 'pay.js');
  if (folder === null) return null;
  const style = readFileSync(join(folder, 'pages.css'));
  const script = createWebFile(ASSETS_PATH, 'pay', 'js', readFileSync(join(folder, 'pay.js')));
  const frameScript = readFileSync(join(folder, 'frame.js'), 'utf8').trim();
  return { script, frameScript, style: { text: style.toString('utf8'), hash: hashForPolicy(style) } };
}

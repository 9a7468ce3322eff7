import { hashForPolicy } from '@tollgate/http';

import type { HtmlPage } from '../paywall/offer/html-page.js';
import { createPageHeaders } from './document.js';
import { ASSETS_PATH, type WebFiles } from './page-files.js';

/** Where the pay page finds the frame for a sold page. */
export const ANSWER_FRAME_PATH = `${ASSETS_PATH}/frame`;

/**
 * The document in which a sold page is shown with its own styles. It has a policy of its own, which a `blob:` document
 * of the pay page would not have, and an origin of its own. Its script puts the sold page into a second frame, which runs
 * no script at all and loads nothing but what it contains.
 */
export function renderAnswerFrame({ frameScript }: WebFiles): HtmlPage {
  const body = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>The page that you bought</title>
<style>html,body,iframe{width:100%;height:100%;margin:0;border:0;display:block;background:#fff}</style>
<iframe sandbox title="The page that you bought" referrerpolicy="no-referrer"></iframe>
<script>${frameScript}</script>
`;
  const policy = [
    "default-src 'none'",
    `script-src '${hashForPolicy(Buffer.from(frameScript))}'`,
    "style-src 'unsafe-inline'",
    ...['img-src data:', 'font-src data:', 'frame-src blob:'],
    ...["form-action 'none'", "base-uri 'none'", "frame-ancestors 'self'"],
    'sandbox allow-scripts',
  ];
  // A link of the sold page must not have its host looked up.
  return { body, headers: [...createPageHeaders(policy), 'X-DNS-Prefetch-Control', 'off'] };
}

import { ICON_URL, type WebFile } from '@tollgate/http';
import type { FastifyReply } from 'fastify';

import { toAsciiJson } from '../paywall/offer/challenge-template.js';
import type { HtmlPage } from '../paywall/offer/html-page.js';
import { setHeaders } from '../server/set-headers.js';
import type { Brand, WebFiles, TestWallet } from './page-files.js';

/** What all pages of a gateway share. */
export interface DocumentParts {
  readonly files: WebFiles;
  readonly brand: Brand;
  /** Null but on a devnet. */
  readonly testWallet: TestWallet | null;
}

export interface DocumentContent {
  readonly title: string;
  /** HTML: its texts are escaped already. */
  readonly main: string;
  /** HTML after the main part, such as the page's data. */
  readonly end?: string;
  /** Whether the page runs the pay script. */
  readonly hasScript: boolean;
  /** The path that `PUBLIC_URL` adds before every path of the gateway. */
  readonly base: string;
}

/** A whole page in ASCII, with a policy that lets it load its own files and nothing else. */
export function renderDocument(parts: DocumentParts, content: DocumentContent): HtmlPage {
  const { files, brand } = parts;
  const { base, hasScript } = content;
  const logoUrl = brand.logo === null ? null : escapeHtml(base + brand.logo.path);
  const logo = logoUrl === null ? '' : `<img src="${logoUrl}" alt="">`;
  const scripts = hasScript ? listScripts(parts) : [];
  const body = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(content.title)}</title>
<link rel="icon" href="${logoUrl ?? ICON_URL}">
<style>${files.style.text}</style>
</head>
<body>
<header>${logo}<span>${escapeHtml(brand.name)}</span></header>
<main>
${content.main}
</main>
<footer>Sold through Tollgate, an HTTP 402 payment gate. This page loads nothing from any other host.</footer>
${content.end ?? ''}
${scripts.map((script) => renderScript(base, script)).join('\n')}
</body>
</html>
`;
  return { body, headers: createHeaders(parts, hasScript) };
}

interface PageScript {
  readonly file: WebFile;
  readonly attributes: string;
}

function listScripts({ files, testWallet }: DocumentParts): PageScript[] {
  const wallet = testWallet && {
    file: testWallet.file,
    attributes: ` data-rpc="${escapeHtml(testWallet.rpcUrls.join(' '))}"`,
  };
  return [...(wallet === null ? [] : [wallet]), { file: files.script, attributes: '' }];
}

function renderScript(base: string, { file, attributes }: PageScript): string {
  return `<script src="${escapeHtml(base + file.path)}" integrity="${file.hash}" defer${attributes}></script>`;
}

function createHeaders({ files, testWallet }: DocumentParts, hasScript: boolean): string[] {
  const hashes = [files.script.hash, ...(testWallet === null ? [] : [testWallet.file.hash])];
  const nodes = testWallet === null || !hasScript ? [] : testWallet.rpcUrls.map((url) => ` ${new URL(url).origin}`);
  const policy = [
    "default-src 'none'",
    `script-src ${hasScript ? hashes.map((hash) => `'${hash}'`).join(' ') : "'none'"}`,
    `style-src '${files.style.hash}'`,
    `img-src 'self' data:${hasScript ? ' blob:' : ''}`,
    ...(hasScript ? [`connect-src 'self'${nodes.join('')}`, "frame-src 'self'"] : []),
    "form-action 'none'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ];
  return createPageHeaders(policy);
}

/** Alternating names and values. */
export function createPageHeaders(policy: readonly string[]): string[] {
  return [
    ...['Content-Type', 'text/html; charset=utf-8'],
    ...['Content-Security-Policy', policy.join('; ')],
    ...['Referrer-Policy', 'no-referrer'],
    ...['X-Content-Type-Options', 'nosniff'],
  ];
}

const REPLACED: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** ASCII for an element's content or a quoted attribute. Everything that comes from outside passes through it. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"'\u0080-\u{10ffff}]/gu, (one) => REPLACED[one] ?? `&#${one.codePointAt(0)};`);
}

/** JSON in ASCII for a `<script type="application/json">`, which ends at the first `</script` and can be reopened by `<!--`. */
export function renderData(value: unknown): string {
  return toAsciiJson(value).replace(/</g, '\\u003c');
}

export function renderDataBlock(id: string, value: unknown): string {
  return `<script type="application/json" id="${id}">${renderData(value)}</script>`;
}

export function sendPage(reply: FastifyReply, { body, headers }: HtmlPage): FastifyReply {
  setHeaders(reply, headers);
  return reply.header('Cache-Control', 'no-store').send(body);
}

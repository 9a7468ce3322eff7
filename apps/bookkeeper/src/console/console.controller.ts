import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import {
  Body,
  Controller,
  Delete,
  Get,
  HttpCode,
  Inject,
  Logger,
  Param,
  Post,
  Req,
  Res,
  UsePipes,
} from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import {
  CHECK_REQUEST,
  CONSOLE_COOKIE,
  createWebFile,
  findBuiltPages,
  hashForPolicy,
  ICON_URL,
  onlyFields,
  ProblemError,
  problemOf,
  readConsoleCookies,
  sendWebFile,
  type ApiKey,
  type WebFile,
} from '@tollgate/http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';

import { ConsoleSessions, SESSION_SECONDS, type ConsoleSession } from '../sessions/console-sessions.js';
import { OperatorKeys } from '../sessions/operator-keys.js';
import { isOnLoopback, refuseSession } from './console-gate.js';

const loginBody = onlyFields({ key: z.string('must be an API key').max(200, 'is too long') });

/** What the console shows of a session. */
export interface SessionView {
  /** The public id and the name of the API key. */
  keyId: string;
  name: string;
  scopes: readonly string[];
  endsAt: string;
}

/** The document of the console, its script, and its session. Everything else it takes from the operator API. */
@Controller('console')
@ApiExcludeController()
@UsePipes(CHECK_REQUEST)
export class ConsoleController {
  readonly #logger = new Logger('Console');
  readonly #document = readConsoleDocument();

  constructor(
    @Inject(ConsoleSessions) private readonly sessions: ConsoleSessions,
    @Inject(OperatorKeys) private readonly keys: OperatorKeys,
  ) {}

  @Get()
  open(@Res() reply: FastifyReply): void {
    if (typeof this.#document === 'string') {
      throw new ProblemError({ status: 503, code: 'service_unavailable', detail: this.#document });
    }
    void reply.headers(this.#document.headers).send(this.#document.html);
  }

  @Get('assets/:name')
  asset(@Param('name') name: string, @Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
    const script = typeof this.#document === 'string' ? null : this.#document.script;
    if (script === null || !script.path.endsWith(`/${name}`)) throw new ProblemError(problemOf(404));
    void sendWebFile(request, reply, script);
  }

  @Post('session')
  @HttpCode(200)
  async logIn(
    @Body({ schema: loginBody }) { key: token }: z.output<typeof loginBody>,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<SessionView> {
    const isLocal = isOnLoopback(request);
    if (!isLocal && !request.headers.origin?.startsWith('https:')) {
      const detail = 'The console takes an API key over HTTPS only, or by a loopback name on this machine.';
      throw new ProblemError({ status: 403, code: 'https_required', detail });
    }
    const judged = await this.keys.identify({ address: request.ip, authorization: `Bearer ${token}` }, [
      'operator:read',
    ]);
    if ('problem' in judged) throw new ProblemError(judged.problem);
    const { key } = judged;
    // A session that the browser brings, maybe another's, is not taken over.
    this.sessions.end(readConsoleCookies(request.headers.cookie));
    const { id, session } = this.sessions.begin(key.id);
    void reply.header('Set-Cookie', writeCookie(id, SESSION_SECONDS, isLocal));
    this.#logger.log({ msg: 'a session begins', key: key.id, name: key.name });
    return describe(session, key);
  }

  @Get('session')
  async session(@Req() request: FastifyRequest): Promise<SessionView> {
    const session = this.sessions.find(readConsoleCookies(request.headers.cookie));
    if (session === null) throw refuseSession();
    const judged = await this.keys.admit(session.keyId, ['operator:read']);
    if ('key' in judged) return describe(session, judged.key);
    if (judged.problem.status === 401) this.sessions.endOf(session.keyId);
    throw new ProblemError(judged.problem);
  }

  @Delete('session')
  @HttpCode(204)
  logOut(@Req() request: FastifyRequest, @Res({ passthrough: true }) reply: FastifyReply): void {
    this.sessions.end(readConsoleCookies(request.headers.cookie));
    void reply.header('Set-Cookie', writeCookie('', 0, isOnLoopback(request)));
  }
}

function describe({ endsAtMs }: ConsoleSession, { id, name, scopes }: ApiKey): SessionView {
  return { keyId: id, name, scopes, endsAt: new Date(endsAtMs).toISOString() };
}

/** A browser refuses a `Secure` cookie of plain HTTP, which only a loopback name may use. */
function writeCookie(value: string, seconds: number, isLocal: boolean): string {
  const flags = `Path=/console; Max-Age=${seconds}; HttpOnly; SameSite=Strict${isLocal ? '' : '; Secure'}`;
  return `${CONSOLE_COOKIE}=${value}; ${flags}`;
}

/** The one document of the console: it holds no data, and its script asks for everything it shows. */
interface ConsoleDocument {
  readonly html: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly script: WebFile;
}

const NOT_BUILT = 'The console is not built. Run `npm run build` and start the bookkeeper again.';

/** From the built files of apps/bookkeeper/web; a sentence for people where they are not built. */
function readConsoleDocument(): ConsoleDocument | string {
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
<link rel="icon" href="${ICON_URL}">
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

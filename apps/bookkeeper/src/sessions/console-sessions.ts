import { createHash, randomBytes } from 'node:crypto';

import { Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';

export const SESSION_SECONDS = 12 * 3_600;
/** The oldest session of a key ends for an eleventh one, and the oldest of all for the next. */
const MOST_OF_KEY = 10;
const MOST = 1_000;

export interface ConsoleSession {
  /** Public id of the API key that logged in. The key itself is not kept. */
  readonly keyId: string;
  readonly endsAtMs: number;
}

/**
 * The sessions of the console, in this process alone: they end with it. By the hash of their ids, so that the time of a
 * look-up tells nothing about an id.
 */
@Injectable()
export class ConsoleSessions {
  /** Oldest first. */
  readonly #sessions = new Map<string, ConsoleSession>();

  /** Begins a session; its id is the cookie's value and stored nowhere. */
  begin(keyId: string, nowMs = Date.now()): { id: string; session: ConsoleSession } {
    for (const [hash, { endsAtMs }] of this.#sessions) if (endsAtMs <= nowMs) this.#sessions.delete(hash);
    const own = [...this.#sessions].filter(([, session]) => session.keyId === keyId);
    for (const [hash] of own.slice(0, Math.max(0, own.length + 1 - MOST_OF_KEY))) this.#sessions.delete(hash);
    for (const hash of this.#sessions.keys()) {
      if (this.#sessions.size < MOST) break;
      this.#sessions.delete(hash);
    }
    const id = randomBytes(32).toString('base64url');
    const session = { keyId, endsAtMs: nowMs + SESSION_SECONDS * 1_000 };
    this.#sessions.set(hashOf(id), session);
    return { id, session };
  }

  /** The first of these ids that is one of a session. */
  find(ids: readonly string[], nowMs = Date.now()): ConsoleSession | null {
    const found = ids.map((id) => this.#sessions.get(hashOf(id))).find((session) => session !== undefined);
    return found !== undefined && found.endsAtMs > nowMs ? found : null;
  }

  end(ids: readonly string[]): void {
    for (const id of ids) this.#sessions.delete(hashOf(id));
  }

  /** Ends all sessions of a key that was revoked. */
  endOf(keyId: string): void {
    for (const [hash, session] of this.#sessions) if (session.keyId === keyId) this.#sessions.delete(hash);
  }
}

function hashOf(id: string): string {
  return createHash('sha256').update(id).digest('base64url');
}

const FORWARDED = '/console/operator/';

const forwarded = new WeakSet<object>();
const sessions = new WeakMap<FastifyRequest, ConsoleSession>();

/** Fastify's `rewriteUrl`: below `/console/operator` the console reaches the operator API, by its session alone. */
export function forwardToOperator(request: { url?: string | undefined }): string {
  const url = request.url ?? '/';
  if (!url.startsWith(FORWARDED)) return url;
  forwarded.add(request);
  return url.slice('/console'.length);
}

/** Whether the request came below `/console/operator`: no other credential than the session counts. */
export function isForwarded({ raw }: FastifyRequest): boolean {
  return forwarded.has(raw);
}

export function attachSession(request: FastifyRequest, session: ConsoleSession): void {
  sessions.set(request, session);
}

/** The session of a request that came below `/console/operator`; null for every other. */
export function sessionOf(request: FastifyRequest): ConsoleSession | null {
  return sessions.get(request) ?? null;
}

import type { AnswerOfRoute, RouteName, SentToRoute } from '@tollgate/operator-api';
import { createContext } from 'preact';

import { routeAddress } from '../../../../libs/operator-api/src/route-address.js';
import type { SessionView } from '../../src/console/console.controller.js';

/** An error that the bookkeeper answered with, or that it could not be reached. */
export class RequestFailed extends Error {
  override readonly name = 'RequestFailed';

  constructor(
    /** HTTP status; 0 where there was no answer. */
    readonly status: number,
    readonly code: string,
    detail: string,
  ) {
    super(detail);
  }
}

/** What a request was answered, or that its answer cannot be read. */
export function toFailure(error: unknown): RequestFailed {
  return error instanceof RequestFailed ? error : new RequestFailed(0, 'unreadable', 'The answer cannot be read.');
}

/** The session of all pages but the login. */
export const SessionContext = createContext<SessionView>({ keyId: '', name: '', scopes: [], endsAt: '' });

/** Where the console reaches a route of the operator API. */
export const consoleAddress = <Name extends RouteName>(name: Name, sent: SentToRoute<Name>): string =>
  `/console${routeAddress(name, sent)}`;
const SESSION = '/console/session';

let endSession: (reason: RequestFailed) => void = () => undefined;

/** Called when a request shows that the session has ended, with what it was answered. */
export function onSessionEnd(listener: (reason: RequestFailed) => void): void {
  endSession = listener;
}

export const readSession = (): Promise<SessionView> => ask('GET', SESSION);
export const logIn = (key: string): Promise<SessionView> => ask('POST', SESSION, { key });
export const logOut = (): Promise<unknown> => ask('DELETE', SESSION);

/** What a route of the operator API answers. @throws RequestFailed */
export const askOperator = <Name extends RouteName>(
  name: Name,
  sent: SentToRoute<Name>,
  signal?: AbortSignal,
): Promise<AnswerOfRoute<Name>> =>
  ask(name.slice(0, name.indexOf(' ')), consoleAddress(name, sent), sent.body as object | undefined, signal);

async function ask<T>(method: string, path: string, body?: object, signal?: AbortSignal): Promise<T> {
  const init: RequestInit = { method, headers: { 'X-Tollgate-Console': '1' }, ...(signal && { signal }) };
  if (body !== undefined) {
    init.headers = { ...init.headers, 'Content-Type': 'application/json' };
    init.body = JSON.stringify(body);
  }
  let response: Response;
  try {
    response = await fetch(path, init);
  } catch (error) {
    if (signal?.aborted === true) throw error;
    throw new RequestFailed(0, 'unreachable', 'The bookkeeper does not answer. Is it running?');
  }
  if (response.ok) return (response.status === 204 ? null : await response.json()) as T;
  const { code = '', detail = '' } = (await response.json().catch(() => ({}))) as { code?: string; detail?: string };
  const text = detail || `The bookkeeper answered with status ${response.status}.`;
  const failure = new RequestFailed(response.status, code, text);
  if (response.status === 401 && path !== SESSION) endSession(failure);
  throw failure;
}

import type { AnswerOfRoute, RouteName, SentToRoute } from '@tollgate/operator-api';
import { Agent, fetch, type Response } from 'undici';

// The library's index would load every schema, and Nest.
import { routeAddress } from '../../../libs/operator-api/src/route-address.js';
import { CommandError } from '../shared/cli-command.js';
import { findOperator } from '../shared/find-place.js';

const WITHIN_MS = 600_000;
/** Between two parts of what is printed, however long all of it takes; the database answers each question within 60 s. */
const PART_WITHIN_MS = 120_000;

export interface OperatorPlace {
  operator?: string;
}

/** Requests to the operator API of the bookkeeper. */
export class OperatorApi {
  readonly #url: string;
  readonly #apiKey: string;
  readonly #dispatcher: Agent;

  /** @throws CommandError without an API key */
  constructor(
    { operator }: OperatorPlace,
    env: NodeJS.ProcessEnv,
    private readonly partWithinMs = PART_WITHIN_MS,
  ) {
    const { url, apiKey, hint } = findOperator(operator, env);
    if (apiKey === '') {
      const create = 'Create a key with tollgate keys create --name me --scope operator:read.';
      throw new CommandError(`OPERATOR_API_KEY is not set. ${create}${hint === undefined ? '' : ` ${hint}`}`);
    }
    this.#url = url;
    this.#apiKey = apiKey;
    // By itself, fetch waits five minutes for an answer; a large book is verified for longer.
    this.#dispatcher = new Agent({ headersTimeout: WITHIN_MS, bodyTimeout: partWithinMs });
  }

  /** What a route answers. @throws CommandError with what the bookkeeper says, or that it is not running */
  async ask<Name extends RouteName>(name: Name, sent: SentToRoute<Name>): Promise<AnswerOfRoute<Name>> {
    const response = await this.#request(name, sent, AbortSignal.timeout(WITHIN_MS));
    return (response.status === 204 ? undefined : await response.json()) as AnswerOfRoute<Name>;
  }

  /** The text of an answer as it comes. @throws CommandError also when it ends too early */
  async *readParts<Name extends RouteName>(name: Name, sent: SentToRoute<Name>): AsyncGenerator<string> {
    const { body } = await this.#request(name, sent, null);
    const decoder = new TextDecoder();
    try {
      for await (const chunk of body ?? []) yield decoder.decode(chunk as Uint8Array, { stream: true });
    } catch (error) {
      const { code } = ((error as Error).cause ?? {}) as NodeJS.ErrnoException;
      const reason =
        code === 'UND_ERR_BODY_TIMEOUT'
          ? `The bookkeeper has sent nothing for ${this.partWithinMs / 1_000} seconds`
          : 'The bookkeeper ended while it was answering';
      throw new CommandError(`${reason}: the output is not complete.`);
    }
  }

  async #request<Name extends RouteName>(
    name: Name,
    sent: SentToRoute<Name>,
    signal: AbortSignal | null,
  ): Promise<Response> {
    const { body } = sent;
    const headers = {
      Authorization: `Bearer ${this.#apiKey}`,
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
    };
    const content = body === undefined ? {} : { body: JSON.stringify(body) };
    let response: Response;
    try {
      response = await fetch(new URL(routeAddress(name, sent), this.#url), {
        method: name.slice(0, name.indexOf(' ')),
        headers,
        ...content,
        signal,
        dispatcher: this.#dispatcher,
      });
    } catch {
      throw new CommandError(`No bookkeeper answers at ${this.#url}. Start one, or name it with OPERATOR_URL.`);
    }
    if (response.ok) return response;
    const { detail } = (await response.json().catch(() => ({}))) as { detail?: string };
    const { status } = response;
    if (status !== 401 && status !== 403 && detail !== undefined) throw new CommandError(detail);
    throw new CommandError(`The operator API at ${this.#url} refused the request: ${detail ?? `status ${status}`}`);
  }
}

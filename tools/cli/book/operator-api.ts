import { CommandError } from '../shared/cli-command.js';
import { findOperator } from '../shared/find-place.js';

const WITHIN_MS = 600_000;

export interface OperatorPlace {
  operator?: string;
}

/** Requests to the operator API of the bookkeeper. */
export class OperatorApi {
  readonly #url: string;
  readonly #apiKey: string;

  /** @throws CommandError without an API key */
  constructor({ operator }: OperatorPlace, env: NodeJS.ProcessEnv) {
    const { url, apiKey } = findOperator(operator, env);
    if (apiKey === '') {
      throw new CommandError(
        'OPERATOR_API_KEY is not set. Create a key with tollgate keys create --name me --scope operator:read.',
      );
    }
    this.#url = url;
    this.#apiKey = apiKey;
  }

  /** The JSON of an answer. @throws CommandError with what the bookkeeper says, or that it is not running */
  async read<T>(path: string, method: 'GET' | 'POST' = 'GET', body?: object): Promise<T> {
    return (await (await this.#request(path, method, body)).json()) as T;
  }

  /** @throws CommandError as `read` does */
  async remove(path: string): Promise<void> {
    await this.#request(path, 'DELETE');
  }

  /** The text of an answer as it comes. @throws CommandError also when it ends too early */
  async *readParts(path: string): AsyncGenerator<string> {
    const { body } = await this.#request(path, 'GET');
    const decoder = new TextDecoder();
    try {
      for await (const chunk of body ?? []) yield decoder.decode(chunk as Uint8Array, { stream: true });
    } catch {
      throw new CommandError('The bookkeeper ended while it was answering: the output is not complete.');
    }
  }

  async #request(path: string, method: string, body?: object): Promise<Response> {
    const headers = {
      Authorization: `Bearer ${this.#apiKey}`,
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
    };
    const content = body === undefined ? {} : { body: JSON.stringify(body) };
    let response: Response;
    try {
      response = await fetch(new URL(path, this.#url), {
        ...{ method, headers, ...content },
        signal: AbortSignal.timeout(WITHIN_MS),
      });
    } catch {
      throw new CommandError(`No bookkeeper answers at ${this.#url}. Start one, or name it with OPERATOR_URL.`);
    }
    if (response.ok) return response;
    const { detail } = (await response.json().catch(() => ({}))) as { detail?: string };
    throw new CommandError(detail ?? `The bookkeeper answered ${response.status}.`);
  }
}

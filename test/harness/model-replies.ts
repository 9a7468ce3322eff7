/** What a stand-in of a model's API answers to one request. */
export type ModelReply =
  | {
      /** Streamed in pieces, a word each. */
      text?: string;
      toolCalls?: { name: string; input: Record<string, unknown>; extraContent?: Record<string, unknown> }[];
      /** Sends what there is, and never ends: until the client goes away. */
      hangs?: boolean;
      /** Sends half of the last tool call, then ends the answer as if it were whole, or resets the connection. */
      breaks?: 'closes' | 'resets';
    }
  | { status: number; body: string; headers?: Record<string, string> }
  /** Sent with status 200 as it is. */
  | { raw: string };

export interface ModelRequest {
  path: string;
  headers: Record<string, string | string[] | undefined>;
  body: Record<string, unknown>;
}

export interface ModelStandIn {
  /** With the path that the API has after the host: `http://127.0.0.1:1234/v1`. */
  url: string;
  requests: ModelRequest[];
  /** Resolves when a client has gone away before its answer was complete. */
  abandoned: Promise<void>;
  stop(): Promise<void>;
}

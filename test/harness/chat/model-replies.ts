/** The answer of a model API's stand-in to one request. */
export type ModelReply =
  | {
      /** Streamed in pieces, one word each. */
      text?: string;
      toolCalls?: { name: string; input: Record<string, unknown>; extraContent?: Record<string, unknown> }[];
      /** Sends the given text and never ends the answer, until the client disconnects. */
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
  /** With the path of the API after the host: `http://127.0.0.1:1234/v1`. */
  url: string;
  requests: ModelRequest[];
  /** Resolves when a client has disconnected before its answer was complete. */
  abandoned: Promise<void>;
  stop(): Promise<void>;
}

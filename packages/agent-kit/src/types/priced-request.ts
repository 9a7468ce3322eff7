/** A request for a resource that may cost something. */
export interface PricedRequest {
  url: string;
  /** GET if omitted. */
  method?: string | undefined;
  body?: string | undefined;
  headers?: Readonly<Record<string, string>> | undefined;
}

/** Headers of the program's own by origin: `https://api.example.com` -> `{ authorization: 'Bearer …' }`. */
export type OwnHeaders = Readonly<Record<string, Readonly<Record<string, string>>>>;

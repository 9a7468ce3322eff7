export function readAnswer(
  response: Response,
  readReceipt: (header: (name: string) => string | null) => object | null | undefined,
): Promise<{ status: number; body: string; receipt: object | null }>;
export function readAxiosAnswer(
  sending: Promise<unknown>,
  readReceipt: (header: (name: string) => string | null) => object | null | undefined,
): Promise<{ status: number; body: string; receipt: object | null }>;
export function axiosRequest(url: string, init: object): { url: string; method: string };

export function readAnswer(
  response: Response,
  readReceipt: (header: (name: string) => string | null) => object | null | undefined,
): Promise<{ status: number; body: string; receipt: object | null }>;
